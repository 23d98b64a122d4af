// This file lets a process be one of a job's: package train, told by the environment that the agent's
// runner sets.

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	commands "github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/checkpoint/workerlog"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/examples/studies/inhouse/train"
)

// It writes its losses to stdout, where the runner reads progress, and into a file, where the page does.
func runTrain(flags *flag.FlagSet) command.Body {
	var job train.Job
	flags.StringVar(&job.Model, "model", "logistic", "logistic or network")
	flags.Int64Var(&job.Steps, "steps", 100, "steps of the whole job")
	flags.Uint64Var(&job.Seed, "seed", 1, "seed of data and parameters")
	flags.DurationVar(&job.Cost, "cost", 0, "time that a sample takes")
	t := &told{}
	flags.StringVar(&t.locks, "locks", "", "the folder of the locks that keep two processes of one rank apart (default that of the job)")
	return func(ctx context.Context, stdout, _ io.Writer) error { return t.train(ctx, job, stdout) }
}

// train does the work of this process.
func (t *told) train(ctx context.Context, job train.Job, stdout io.Writer) (err error) {
	if err := t.read(&job); err != nil {
		return err
	}
	// The lock is held as long as the process lives.
	alone, err := t.lock(job.Rank)
	if err != nil {
		return err
	}
	defer alone.Close()
	// Only the first process knows the loss of a step.
	if job.Rank == 0 {
		if t.curve, err = os.OpenFile(filepath.Join(job.Dir, master.CurveFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			return err
		}
		defer t.curve.Close()
	}
	t.out, job.Report, job.Save = stdout, t.report, t.save
	job.Begin = func(step int64) (err error) {
		t.log, err = workerlog.Create(job.Dir, step)
		return err
	}
	job.Worked = func(step int64) error { return t.log.Step(step) }
	if err := train.Run(ctx, job); err != nil {
		return err
	}
	if err := t.log.End(job.Steps); err != nil {
		return err
	}
	fmt.Fprintf(stdout, `{"step": %d, "done": true}`+"\n", job.Steps)
	return nil
}

// told is what a process is told by its environment, and how it answers.
type told struct {
	dir, request, acknowledgement string
	locks                         string

	out      io.Writer
	curve    *os.File
	log      *workerlog.Writer
	answered int64
}

// read takes the place of this process in its job from the environment.
func (t *told) read(job *train.Job) (err error) {
	t.dir = os.Getenv(commands.EnvCheckpointDir)
	t.request, t.acknowledgement = os.Getenv(commands.EnvSaveRequest), os.Getenv(commands.EnvSaveAck)
	job.Dir = t.dir
	if job.Rank, err = strconv.Atoi(os.Getenv(commands.EnvRank)); err != nil {
		return fmt.Errorf("%s: %w", commands.EnvRank, err)
	}
	if job.Size, err = strconv.Atoi(os.Getenv(commands.EnvContainers)); err != nil {
		return fmt.Errorf("%s: %w", commands.EnvContainers, err)
	}
	restore := os.Getenv(commands.EnvRestoreDir)
	if restore == "" {
		return nil
	}
	entries, err := os.ReadDir(restore) // no pattern: the job may be called anything
	var states []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "state-") {
			states = append(states, filepath.Join(restore, entry.Name()))
		}
	}
	if err != nil || len(states) != 1 {
		return fmt.Errorf("%s has %d states: %w", restore, len(states), errors.Join(err, fs.ErrInvalid))
	}
	job.Restore = states[0]
	return nil
}

// lock takes the place of this process in its job, which no other process may have.
// It is a trap for faults of the scheduler and no part of it: two processes of one rank must never meet.
func (t *told) lock(rank int) (*os.File, error) {
	folder := cmp.Or(t.locks, filepath.Dir(t.dir)) // of the job
	file, err := os.OpenFile(filepath.Join(folder, fmt.Sprintf("rank-%d.lock", rank)), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		text := fmt.Sprintf("rank %d in %s: %v\n", rank, t.dir, err)
		// The log of this process must tell that it was there: the check over all logs finds the two.
		_, logged := workerlog.Create(t.dir, -1)
		return nil, errors.Join(errors.New(text), logged, os.WriteFile(filepath.Join(folder, cluster.TwiceFile), []byte(text), 0o600), file.Close())
	}
	return file, nil
}

// report writes the loss where the runner reads it, and where the status page does.
func (t *told) report(step int64, loss float64) error {
	line, err := json.Marshal(master.Point{Step: step, Value: loss})
	if err != nil {
		return err
	}
	line = append(line, '\n')
	_, err = t.out.Write(line)
	_, err2 := t.curve.Write(line)
	return errors.Join(err, err2, t.log.Step(step))
}

// save writes the state if the runner has asked for it, says so, and removes the one before.
// A request is a number that rises; one that was answered is not answered again.
func (t *told) save(step int64, write func(path string) error) error {
	text, err := os.ReadFile(t.request)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var number int64
	if err == nil {
		err = json.Unmarshal(text, &number)
	}
	if err != nil || number == t.answered {
		return err
	}
	name := fmt.Sprintf("state-%d", number)
	if err := write(filepath.Join(t.dir, name)); err != nil {
		return err
	}
	// Before the answer: what was acknowledged may be resumed from.
	if err := t.log.Saved(step); err != nil {
		return err
	}
	ack, err := json.Marshal(commands.Acknowledgement{Request: number, Step: &step, Files: []string{name}})
	if err != nil {
		return err
	}
	if err := vfs.ReplaceFile(t.acknowledgement, ack); err != nil { // no machine that crashes needs it
		return err
	}
	// The state before stays until the new one was acknowledged.
	if t.answered > 0 {
		err = os.Remove(filepath.Join(t.dir, fmt.Sprintf("state-%d", t.answered)))
	}
	t.answered = number
	return err
}
