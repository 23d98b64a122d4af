// This file implements what is read from the output of a job, and the bound on what it takes on the disk.

package command

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/regular"
)

// read takes in what the log has more than at the last time, and returns the newest reading. Of output
// that came faster than the bound lets stay, only the end is seen.
// It costs what is new since then, and at most LogBytes.
func (a *Runner) read(name string) (Reading, bool, error) {
	// One reader at a time: two would take in the same piece twice, and one the middle of a line.
	a.reading.Lock()
	defer a.reading.Unlock()
	o := a.outputs[name]
	if o == nil {
		o = &output{}
		a.outputs[name] = o
	}
	// A file that is not there yet has no reading.
	// Neither has what a job has put in its place.
	file, err := regular.Open(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, regular.ErrIrregular) {
		return Reading{}, false, nil
	}
	if err != nil {
		return Reading{}, false, err
	}
	defer file.Close()
	// The length is taken once. What is written after it is read at the next call.
	info, err := file.Stat()
	if err != nil {
		return Reading{}, false, err
	}
	if info.Size() < o.offset { // the space was given back by starting over
		o.offset = 0
	}
	// What lies farther back may be a hole by now, which reads as zeros.
	o.offset = max(o.offset, info.Size()-a.options.LogBytes)
	// O(bytes that are new): a log is never read twice by one runner.
	n, err := io.Copy(&o.Readings, io.NewSectionReader(file, o.offset, info.Size()-o.offset))
	o.offset += n
	return o.last, o.any, err
}

// Last returns the newest reading that the process of one rank has printed, and whether there is one.
// rank is counted over all containers of the run, those of other nodes as well.
func (a *Runner) Last(run runner.Run, rank int) (Reading, bool, error) {
	r, ok, err := a.read(a.Log(run, rank))
	return r, ok, named("read", &run, err)
}

func (a *Runner) drop(folder runFolder) {
	// Both maps have paths as keys, and the run is their folder.
	a.reading.Lock()
	for name := range a.outputs {
		if filepath.Dir(name) == string(folder) {
			delete(a.outputs, name)
		}
	}
	a.reading.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	for name := range a.children {
		if filepath.Dir(name) == string(folder) {
			delete(a.children, name)
		}
	}
}

// tendInterval is how often logs are looked at: they outgrow their bound by what is written in it.
const tendInterval = 100 * time.Millisecond

// tend keeps the logs of all jobs of the folder below their bound until the runner is closed.
func (a *Runner) tend() {
	ticker := time.NewTicker(tendInterval)
	defer ticker.Stop()
	for {
		select {
		case <-a.closed:
			return
		case <-ticker.C:
			a.trimAll()
		}
	}
}

// trimAll looks at the logs of all runs of all jobs. A run may be forgotten just now, or the disk may not
// answer: the next round tries again.
func (a *Runner) trimAll() {
	// All jobs of the folder are looked at, also those whose runner has died: their processes write on.
	jobs, _ := os.ReadDir(a.commands.Work)
	for _, job := range jobs {
		j := jobFolder(filepath.Join(a.commands.Work, job.Name()))
		attempts, _ := j.attempts()
		for _, attempt := range attempts {
			for _, name := range j.run(attempt).ofRanks(logEnding) {
				_ = a.trim(name)
			}
		}
	}
}

// trim gives back the older part of a log that is beyond its bound, and keeps half of the bound.
// Half, so that a log which goes on growing is cut once for so much output and not at every look.
func (a *Runner) trim(name string) error {
	info, err := os.Lstat(name)
	// What counts is the space taken and not the length, which goes on growing over the hole.
	if err != nil || diskBytes(info) <= a.options.LogBytes {
		return err
	}
	return release(name, info.Size()-a.options.LogBytes/2)
}
