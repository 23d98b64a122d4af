// This file implements the environment that tells a job what it is to run as.

package command

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion/checkpoint/runner"
)

// The variables that every process of a run is given. The package documentation says what is in them.
const (
	EnvJob           = "APPORTION_JOB"
	EnvAttempt       = "APPORTION_ATTEMPT"
	EnvContainers    = "APPORTION_CONTAINERS"
	EnvServers       = "APPORTION_SERVERS"
	EnvServer        = "APPORTION_SERVER"
	EnvRank          = "APPORTION_RANK"
	EnvCheckpointDir = "APPORTION_CHECKPOINT_DIR"
	EnvRestoreDir    = "APPORTION_RESTORE_DIR"
	envRestore       = "APPORTION_RESTORE"
	EnvSaveRequest   = "APPORTION_SAVE_REQUEST"
	EnvSaveAck       = "APPORTION_SAVE_ACK"
	EnvRunDir        = "APPORTION_RUN_DIR"
)

// environment returns the variables of the process of one rank. Those of the protocol win over others
// of the same name. Restore is the checkpoint's name as its format found it, empty without one.
func (a *Runner) environment(run *runner.Run, folder runFolder, rank int, restore string) []string {
	// The options are shared by all runs, so append must not write into their array.
	env := slices.Clone(a.options.Env)
	add := func(name, value string) { env = append(env, name+"="+value) }
	if a.options.homeless {
		add("HOME", folder.own())
	}
	add(EnvJob, run.Job)
	add(EnvAttempt, strconv.FormatInt(run.Attempt, 10))
	add(EnvContainers, strconv.Itoa(len(run.Containers)))
	// No server's name has a comma in it, see checkRun.
	add(EnvServers, strings.Join(run.Containers, ","))
	add(EnvServer, run.Containers[rank])
	add(EnvRank, strconv.Itoa(rank))
	add(EnvCheckpointDir, run.Dir)
	add(EnvSaveRequest, folder.request())
	add(EnvSaveAck, folder.acknowledgement())
	add(EnvRunDir, string(folder))
	// The variable is absent, not empty, where a job begins anew: programs test whether it is set.
	if run.Restore != "" {
		add(EnvRestoreDir, run.Restore)
	}
	if restore != "" {
		add(envRestore, filepath.Join(run.Restore, restore))
	}
	return env
}
