// This file implements what a fleet does once for a run, however many servers ask for it: its start, which no master repeats.

package managed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/apportion/apportion/checkpoint/store"
)

// run is what the servers of a run have in common.
type run struct {
	// mu is held while the run's checkpoint is fetched and while the run is handed over and started; shared, while the manager is asked
	// for trouble.
	mu               sync.RWMutex
	fetched, started bool
}

// runKey names a run, by the last element of its folders.
type runKey struct{ job, attempt string }

// runOf returns what the servers of a run have in common, by a folder of the run.
func (f *Fleet) runOf(job, dir string) *run {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := runKey{job, filepath.Base(dir)}
	f.runs[key] = cmp.Or(f.runs[key], &run{})
	return f.runs[key]
}

// askedFolder is the folder in Dir with a note of each run that the manager was asked for. No server has it: [store.FolderOf] escapes
// percent signs.
const askedFolder = "%asked"

func (f *Fleet) asked(job string) string {
	return filepath.Join(f.config.Dir, askedFolder, string(store.FolderOf(job)))
}

// note notes a run, and reports whether that was noted before.
func (f *Fleet) note(job string, attempt int64) (again bool, err error) {
	if err := os.MkdirAll(f.asked(job), 0o700); err != nil {
		return false, err
	}
	// O_EXCL decides among all masters: exactly one makes the file.
	note, err := os.OpenFile(filepath.Join(f.asked(job), strconv.FormatInt(attempt, 10)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, errors.Join(note.Sync(), note.Close())
}

// start hands a run over and has the manager start it. The run is noted before: a master that dies in between leaves a run of which
// containers may be missing, which Trouble finds, and none that is started twice.
func (f *Fleet) start(ctx context.Context, t *Task) error {
	r := f.runOf(t.Job, t.Dir)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started {
		return nil
	}
	if err := f.handOver(t); err != nil {
		return fmt.Errorf("managed: job %q is not handed over: %w", t.Job, err)
	}
	// The run is vouched for before the manager hears of it, so that no guard is early.
	f.desk.Begin(t.Job, t.Attempt)
	again, err := f.note(t.Job, t.Attempt)
	if err == nil {
		t.Again = again
		err = f.config.Manager.Start(ctx, *t)
	}
	r.started = err == nil
	return err
}

// trouble is what the manager knows against a part of a run. While the run is being started, and before, that is nothing.
func (f *Fleet) trouble(ctx context.Context, job string, attempt int64, dir string, part Part) (why string, refused bool, err error) {
	r := f.runOf(job, dir)
	if !r.mu.TryRLock() {
		return "", false, nil
	}
	defer r.mu.RUnlock()
	_, err = os.Lstat(filepath.Join(f.asked(job), strconv.FormatInt(attempt, 10)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return f.config.Manager.Trouble(ctx, job, attempt, part)
}
