// This file ends jobs in Slurm's own terms, and keeps a note of each that is over, since slurmctld that was killed may come back with
// jobs as they were a moment before.

package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// Ended implements controller.Cluster.
// The note comes first: a job that has ended without it might come back.
func (s *slurm) Ended(ctx context.Context, job string, how checkpoint.Ending, why string) error {
	if err := s.bury(job, how, time.Now()); err != nil {
		return err
	}
	return s.end(ctx, numberOf(job), how, why)
}

// small is what a job is made to ask for when it is to end: the least that Slurm starts a script for. When it begins is left to Slurm,
// which waits for two minutes where the script was requeued: earlier a node may take its credential for the one that was revoked.
var small = []string{"NumCPUs=1", "CPUsPerTask=1", "MinCPUsNode=1", "MinMemoryCPU=1", "Gres=gpu:0"}

// end ends a job. One that was cancelled is cancelled, as its user would do; any other is told by its comment how it has ended and
// released, so that its script, which is inert, ends it so: COMPLETED or FAILED, with all that Slurm does then.
func (s *slurm) end(ctx context.Context, number string, how checkpoint.Ending, why string) error {
	if how == checkpoint.Cancelled {
		// One that is no more is no error: scancel says so and succeeds.
		_, err := command(ctx, "", "scancel", number)
		return err
	}
	comment := fmt.Sprintf("Comment=%s %s %.500s", mark, how, strings.Join(strings.Fields(why), " "))
	_, err := command(ctx, "", "scontrol", append([]string{"update", "JobId=" + number, strings.TrimSpace(comment)}, small...)...)
	if err == nil {
		_, err = command(ctx, "", "scontrol", "release", number)
	}
	// One that has ended by itself meanwhile, or that its user has cancelled.
	if err != nil && (strings.Contains(err.Error(), "already finished") || strings.Contains(err.Error(), "Invalid job id")) {
		return nil
	}
	return err
}

// endingOf is how a job ends that was told so by its comment, see end; "": it was not.
func endingOf(words []string) checkpoint.Ending {
	if len(words) > 0 {
		if how := checkpoint.Ending(words[0]); how == checkpoint.Completed || how == checkpoint.GivenUp {
			return how
		}
	}
	return ""
}

// Forget implements controller.Cluster.
func (s *slurm) Forget(_ context.Context, job string) error {
	// What has no note was cancelled by its user.
	how, _, err := s.grave(job)
	if err == nil {
		err = s.bury(job, cmp.Or(how, checkpoint.Cancelled), time.Now())
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.scripts, job)
	delete(s.demands, job)
	return nil
}

// slurmTime is how the notes have a time, in the zone of the machine: to the second, and in the order of texts.
const slurmTime = "2006-01-02T15:04:05"

// graves is the folder with a note of each job that is over: the time, and how it has ended.
const graves = "over"

// bury notes that a job is over: whatever of that name was submitted until now is not to run again.
func (s *slurm) bury(job string, how checkpoint.Ending, now time.Time) error {
	folder := filepath.Join(s.folder, graves)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return vfs.WriteFile(filepath.Join(folder, string(store.FolderOf(job))), []byte(now.Format(slurmTime)+" "+string(how)))
}

// grave reads the note of a job; "": there is none. One from before notes said how is of a job that was cancelled.
func (s *slurm) grave(job string) (how checkpoint.Ending, at string, err error) {
	text, err := os.ReadFile(filepath.Join(s.folder, graves, string(store.FolderOf(job))))
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	}
	at, rest, _ := strings.Cut(string(text), " ")
	return cmp.Or(checkpoint.Ending(rest), checkpoint.Cancelled), at, err
}

// buried returns how a job that Slurm shows has ended, if it is one that is over; "": it is not. A later one may have its name and,
// from a slurmctld that has forgotten some, its number.
// submitted is Slurm's own time in seconds, and texts of slurmTime compare as times do. What was submitted
// in the very second of the funeral counts as over.
func (s *slurm) buried(job string, submitted int64) (checkpoint.Ending, error) {
	how, at, err := s.grave(job)
	if err != nil || time.Unix(submitted, 0).Format(slurmTime) > at {
		return "", err
	}
	return how, nil
}
