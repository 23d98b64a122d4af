// This file finds the processes of jobs on this machine, to kill some and to leave none behind.

package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/store"
)

// Process is a process of a job.
type Process struct {
	PID     int
	Job     string
	Attempt int64
	Rank    int
	// Guard says that it is one of those that guard a process of the job.
	Guard bool
}

// TwiceFile is written into the shared directory of a job by a process that finds its place in it taken by
// another one. It must never exist.
const TwiceFile = "twice"

// Twice returns an error if two processes of a job ever had the same place in it at the same time.
func (p Place) Twice(job string) error {
	text, err := os.ReadFile(filepath.Join(p.Shared(), string(store.FolderOf(job)), TwiceFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("job %q: two processes had the same place in it at the same time: %s", job, bytes.TrimSpace(text))
}

// Processes returns the processes of the jobs of a cluster: those whose environment names its directory.
// Processes that this user may not look at are not found.
func (p Place) Processes() []Process {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	var found []Process
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		env := map[string]string{}
		for entry := range bytes.SplitSeq(data, []byte{0}) {
			if key, value, ok := strings.Cut(string(entry), "="); ok {
				env[key] = value
			}
		}
		if !strings.HasPrefix(env[command.EnvCheckpointDir], p.Shared()+"/") {
			continue
		}
		process := Process{Job: env[command.EnvJob]}
		process.PID, _ = strconv.Atoi(filepath.Base(filepath.Dir(name)))
		process.Attempt, _ = strconv.ParseInt(env[command.EnvAttempt], 10, 64)
		process.Rank, _ = strconv.Atoi(env[command.EnvRank])
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		// The second word of a guard's command is the subcommand.
		process.Guard = bytes.HasPrefix(append(line, 0)[bytes.IndexByte(append(line, 0), 0)+1:], []byte(GuardWord+"\x00"))
		found = append(found, process)
	}
	return found
}
