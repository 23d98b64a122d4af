// This file implements what the runner keeps on the disk: a folder for each job, and in it one for each
// run, of which the highest fences off the others.

package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/internal/flock"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/regular"
)

// jobFolder is the folder of one job: the file lock, and the folders of its runs. Their names tell the highest attempt.
type jobFolder string

type runFolder string

// folder is the folder of a job, whatever the job is called.
// A job's name may hold any character: store.FolderOf makes one folder of it, which is below Work whatever it is.
func (a *Runner) folder(job string) jobFolder {
	return jobFolder(filepath.Join(a.commands.Work, string(store.FolderOf(job))))
}

// runPrefix is what the names of the folders of runs begin with; their attempt follows.
const runPrefix = "run-"

func (j jobFolder) runs() string { return filepath.Join(string(j), runPrefix) }

func (j jobFolder) run(attempt int64) runFolder {
	return runFolder(j.runs() + strconv.FormatInt(attempt, 10))
}

func (r runFolder) file(name string) string { return filepath.Join(string(r), name) }

// own is the one folder of the run into which its processes may write; all else in the run's folder is the runner's.
func (r runFolder) own() string { return r.file("own") }

// request and acknowledgement are the files by which a save is asked for and answered.
func (r runFolder) request() string         { return r.file("save-request") }
func (r runFolder) acknowledgement() string { return filepath.Join(r.own(), "save-ack") }

// started and stopped mark what has been done for the run, over that nothing of it is alive.
// started is written last of a start and durably: without it the run counts as half-started.
func (r runFolder) started() string { return r.file("started") }
func (r runFolder) stopped() string { return r.file("stopped") }
func (r runFolder) over() string    { return r.file(overName) }

// overName is the name of the last of these.
const overName = "over"

// held is a file that every process of the run keeps open under a lock, from before it begins to be that
// process until its end: while the lock is held, something of the run is alive.
func (r runFolder) held() string { return r.file("held") }

// process, ended and log are the files of one rank: who it is, how it ended, what it prints.
func (r runFolder) process(rank int) string { return r.ofRank(rank, processEnding) }
func (r runFolder) ended(rank int) string   { return r.ofRank(rank, ".exit") }
func (r runFolder) log(rank int) string     { return r.ofRank(rank, logEnding) }

// The names of the files that each rank has one of.
const (
	rankPrefix    = "rank-"
	processEnding = ".json"
	logEnding     = ".log"
)

func (r runFolder) ofRank(rank int, ending string) string {
	return r.file(rankPrefix + strconv.Itoa(rank) + ending)
}

// ofRanks returns the files of the run that each rank has one of: those with an ending.
func (r runFolder) ofRanks(ending string) []string {
	// The files are found by listing, since a runner that comes later does not know the ranks of an earlier
	// run.
	entries, _ := os.ReadDir(string(r)) // a folder that is not there has none
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), rankPrefix) && strings.HasSuffix(e.Name(), ending) {
			names = append(names, r.file(e.Name()))
		}
	}
	return names
}

// Log returns the file with the output of one rank of a run.
// It is named whether or not it is there. Older output is gone from it, see Options.LogBytes.
func (a *Runner) Log(run runner.Run, rank int) string {
	return a.folder(run.Job).run(run.Attempt).log(rank)
}

// exists reports whether a marker is there. One that cannot be looked at is an error.
func exists(name string) (bool, error) {
	// Lstat does not follow a link: a marker is what the runner has put there, and a dangling link would
	// look like none.
	_, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// put writes a value as JSON into a file, such that it is there as a whole or not at all. write is
// vfs.WriteFile for what must outlive a crash of the machine, else vfs.ReplaceFile. Writers of
// one file exclude each other.
func put(name string, value any, write func(name string, data []byte) error) error {
	// Every record ends with a newline, so that a shell can read the request file line by line.
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return write(name, append(text, '\n'))
}

// maxRecord bounds what is read of a file that a job or the runner wrote, in bytes.
const maxRecord = 1 << 20

// get reads a file that put wrote, or a job; the error wraps fs.ErrNotExist if there is none.
func get(name string, value any) error {
	// A job may have put anything there, a link or a pipe, and may do so at any moment.
	// What is longer is cut and then no JSON, so it is an error and not a wrong value.
	text, err := regular.Read(name, maxRecord)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// highest returns the highest attempt of the job that was seen, 0 if none was: the folders of the runs are the record of that,
// and forget leaves the newest.
func (j jobFolder) highest() (int64, error) {
	attempts, err := j.attempts()
	// No folder is no attempt. One that cannot be read is an error: taking it for none would let an old
	// attempt pass.
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	return slices.Max(append(attempts, 0)), nil
}

// fence returns checkpoint.ErrFenced for an attempt below the highest.
func (j jobFolder) fence(attempt int64) error {
	highest, err := j.highest()
	// Equal is not below: the methods of the highest attempt itself may be called again.
	if err == nil && attempt < highest {
		err = fmt.Errorf("attempt %d is over since %d: %w", attempt, highest, checkpoint.ErrFenced)
	}
	return err
}

// raise makes the attempt the highest, so that it stays that after a crash, or refuses it. The job must be
// locked.
func (j jobFolder) raise(attempt int64) error {
	highest, err := j.highest()
	// The highest one again needs no write, which is the way of most calls.
	if err != nil || attempt <= highest {
		return errors.Join(err, j.fence(attempt))
	}
	// The name of the folder holds all that must be known, so no crash leaves a mark that is half written.
	if err := os.Mkdir(string(j.run(attempt)), 0o700); err != nil {
		return err
	}
	return vfs.SyncFolder(string(j))
}

// lock waits until no other method and no other runner changes the job, and returns the way to let go.
// The system lets go for a process that is killed.
func (a *Runner) lock(ctx context.Context, j jobFolder) (unlock func(), err error) {
	// The folder of the job comes first: it may be the first time that this node hears of it.
	if err := os.MkdirAll(string(j), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(string(j), "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for pace := a.paced(nil); ; {
		// The lock is asked for, not waited for, so that the context can end the wait.
		locked, err := flock.Try(file)
		if locked {
			return func() { _ = file.Close() }, nil // which gives up the lock
		}
		if err == nil {
			err = pace.pause(ctx)
		}
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
}

// enter checks a run and its attempt. Every method begins with it; only Resume and Stop, which end what is
// older, raise the highest attempt.
func (a *Runner) enter(run *runner.Run) (runFolder, error) {
	if err := checkRun(run); err != nil {
		return "", err
	}
	j := a.folder(run.Job)
	return j.run(run.Attempt), j.fence(run.Attempt)
}

// enterAlone enters, waits for the job's lock, and makes the attempt the highest.
func (a *Runner) enterAlone(ctx context.Context, run *runner.Run) (folder runFolder, unlock func(), err error) {
	// What is refused without the lock is refused at once; raise asks again under it.
	if folder, err = a.enter(run); err != nil {
		return "", nil, err
	}
	j := a.folder(run.Job)
	if unlock, err = a.lock(ctx, j); err != nil {
		return "", nil, err
	}
	// Under the lock, so that of two attempts at once the higher one wins for good.
	if err := j.raise(run.Attempt); err != nil {
		unlock()
		return "", nil, err
	}
	return folder, unlock, nil
}

// live refuses an attempt that is over: below the highest, or stopped.
// It needs no lock and says what was so when it looked. So Resume asks it under the lock, and Save after each look at the files.
func (j jobFolder) live(attempt int64) error {
	if err := j.fence(attempt); err != nil {
		return err
	}
	stopped, err := exists(j.run(attempt).stopped())
	if stopped && err == nil {
		err = ErrStopped
	}
	return err
}

// attempts returns the attempts of the job that have a folder.
// They are in the order of their names as texts, in which 10 comes before 9.
func (j jobFolder) attempts() ([]int64, error) {
	entries, err := os.ReadDir(string(j))
	var attempts []int64
	for _, e := range entries {
		// Whatever else lies there is not the runner's, and left alone.
		if digits, ok := strings.CutPrefix(e.Name(), runPrefix); ok {
			if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
				attempts = append(attempts, n)
			}
		}
	}
	return attempts, err
}

func named(verb string, run *runner.Run, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("command: %s job %q attempt %d: %w", verb, run.Job, run.Attempt, err)
}
