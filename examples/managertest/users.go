//go:build unix

// This file checks what jobs of several users have, and what they see of each other.

package managertest

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/examples/managertest/processes"
)

// Saved waits until each of these jobs has a checkpoint of a step.
func (b *Bench) Saved(ids ...string) {
	b.Helper()
	processes.Eventually(b, strings.Join(ids, ", ")+" have saved", 90*time.Second, func() bool {
		r := b.Report()
		if r == nil {
			return false
		}
		left := slices.Clone(ids)
		for i := range r.Jobs {
			if j := &r.Jobs[i].Job; j.Newest().Step > 0 {
				left = slices.DeleteFunc(left, func(id string) bool { return id == j.Name })
			}
		}
		return len(left) == 0
	})
}

// Hidden checks that a job's user reads what the job has in the shared folder, runs with their credentials and what was restored, and
// that another user reads nothing of it.
func (b *Bench) Hidden(job string, own, other *syscall.Credential) {
	b.Helper()
	for _, folder := range []string{"runs", "restored"} {
		var files []string
		root := filepath.Join(b.Shared, folder, string(store.FolderOf(job)))
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			// What lies beside the runs is the test's own.
			if err == nil && entry.Type().IsRegular() && filepath.Dir(path) != root {
				files = append(files, path)
			}
			return nil // what has gone meanwhile is no matter
		})
		if err != nil || len(files) == 0 {
			b.Errorf("job %s has %d files in %s: %v", job, len(files), folder, err)
		}
		for _, user := range []*syscall.Credential{own, other} {
			cmd := exec.Command("sh", append([]string{"-c", `for f; do test -r "$f" && echo "$f"; done; exit 0`, "sh"}, files...)...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
			if seen, err := cmd.CombinedOutput(); err != nil || (len(seen) > 0) != (user == own) {
				b.Errorf("user %d reads of job %s: %s, %v", user.Uid, job, seen, err)
			}
		}
	}
}
