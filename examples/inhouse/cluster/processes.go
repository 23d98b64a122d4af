// This file finds the processes of jobs on this machine, to kill some and to leave none behind.

package cluster

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apportion/apportion/checkpoint/command"
)

// Process is a process of a job.
type Process struct {
	PID     int
	Job     string
	Server  string
	Attempt int64
	Rank    int
}

// Processes returns the processes of the jobs of a cluster: those whose environment names its directory.
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
		process := Process{Job: env[command.EnvJob], Server: env[command.EnvServer]}
		process.PID, _ = strconv.Atoi(filepath.Base(filepath.Dir(name)))
		process.Attempt, _ = strconv.ParseInt(env[command.EnvAttempt], 10, 64)
		process.Rank, _ = strconv.Atoi(env[command.EnvRank])
		found = append(found, process)
	}
	return found
}
