// This file implements Writer: how a worker in Go keeps its log.

package workerlog

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/apportion/apportion/checkpoint/command"
)

// Python is the module workerlog.py beside this file: a trainer in Python that has it in its path keeps the same log.
//
//go:embed workerlog.py
var Python []byte

// Writer keeps the log of one worker, a process of a job. It is not safe for concurrent use.
type Writer struct {
	file *os.File
	line Line
}

// Create makes a log for this process in a folder, which is made if it is not there. Who the worker is comes from the
// environment of a run, see package command. from is the number of steps that it begins with, -1 if it does not know.
func Create(folder string, from int64) (*Writer, error) {
	attempt, err := strconv.ParseInt(os.Getenv(command.EnvAttempt), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("workerlog: %s: %w", command.EnvAttempt, err)
	}
	rank, err := strconv.Atoi(cmp.Or(os.Getenv(command.EnvRank), "0"))
	if err != nil {
		return nil, fmt.Errorf("workerlog: %s: %w", command.EnvRank, err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	now := time.Now().UnixNano()
	// The number and the time together are given once on a server.
	own := fmt.Sprintf("%d-%d-%d", rank, os.Getpid(), now)
	file, err := os.OpenFile(filepath.Join(folder, own+Ending), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	server := os.Getenv(command.EnvServer)
	w := &Writer{file, Line{Job: os.Getenv(command.EnvJob), Attempt: attempt, Rank: rank, Server: server, Life: server + "-" + own}}
	return w, w.write(Start, from)
}

// Step says that so many steps were done.
func (w *Writer) Step(step int64) error { return w.write(Step, step) }

// Saved says that a checkpoint with so many steps is complete. It comes before the acknowledgement: what was acknowledged
// may be resumed from.
func (w *Writer) Saved(step int64) error { return w.write(Saved, step) }

// End says that the work is done, and closes the log.
func (w *Writer) End(step int64) error {
	if err := w.write(End, step); err != nil {
		return err
	}
	return w.file.Close()
}

// write writes a line at once: nothing of it is in this process when it is killed.
func (w *Writer) write(what string, step int64) error {
	l := w.line
	l.Worker, l.Step, l.At = what, step, time.Now().UnixNano()
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = w.file.Write(append(text, '\n'))
	return err
}
