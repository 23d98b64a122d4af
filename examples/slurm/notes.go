// This file keeps notes in the folder of the controller: which parts were submitted, which nobody may do twice, and what is over,
// since slurmctld that was killed may come back with jobs that were cancelled a moment before.

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/durable"
)

// slurmTime is how Slurm writes a time, in the zone of the machine: to the second, and in the order of texts.
const slurmTime = "2006-01-02T15:04:05"

// notes is the folder with the notes of a job's parts, and noteOf that of one.
// A name of a job may hold anything; FolderOf makes a name of a folder of it that no other job has.
func (s *slurm) notes(job string) string { return filepath.Join(s.folder, string(store.FolderOf(job))) }
func (s *slurm) noteOf(job string, attempt int64, server string) string {
	return filepath.Join(s.notes(job), fmt.Sprintf("%d-%s", attempt, server))
}

// graves is the folder with a note of each job that is over.
const graves = "over"

// bury notes that a job is over: whatever of that name was submitted until now is not to run again.
// The note is made durable before the job is cancelled: a master that dies between the two cancels again.
func (s *slurm) bury(job string, now time.Time) error {
	folder := filepath.Join(s.folder, graves)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(folder, string(store.FolderOf(job))), []byte(now.Format(slurmTime)))
}

// isBuried reports whether a job that Slurm shows is one that is over. A later one may have its name and, from a slurmctld
// that has forgotten some, its number.
// submitted is Slurm's own time in seconds, and texts of slurmTime compare as times do. What was submitted
// in the very second of the funeral counts as over.
func (s *slurm) isBuried(job, submitted string) (bool, error) {
	text, err := os.ReadFile(filepath.Join(s.folder, graves, string(store.FolderOf(job))))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && submitted <= string(text), err
}

// cancel cancels a held job.
// One that is no more is no error: scancel says so and succeeds.
func (s *slurm) cancel(ctx context.Context, number string) error {
	_, err := command(ctx, "", "scancel", number)
	return err
}
