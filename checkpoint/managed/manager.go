// This file declares what a cluster manager must be able to do, and what it is told of a run.

package managed

import (
	"context"
	"encoding/json"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/internal/owner"
	"github.com/apportion/apportion/checkpoint/runner"
)

// Manager starts and ends the containers of jobs by the API of a cluster manager. It is called from many goroutines, also
// for one job at the same time: each server of a run is asked for.
type Manager interface {
	// User returns whom the containers of a job run as, by what its Spec says; nil: the user of this program. It is asked before
	// every Start and Save, and an error refuses them.
	User(spec json.RawMessage) (*command.User, error)
	// Start asks for the containers of a run on all its servers, and returns when that is on the manager's record. Calls for one run
	// follow each other, until one has no error. Nothing is started again of an attempt that was asked for before, see Task.Again, and
	// nothing of an attempt below one that was asked for or stopped.
	Start(ctx context.Context, t Task) error
	// Stop asks to end the containers of a job of all attempts up to one, and reports whether the manager may have some of them on the
	// server: left is false where it cannot tell because the server is down. It is called again until nothing is left.
	Stop(ctx context.Context, job string, attempt int64, server string) (left bool, err error)
	// Trouble says why containers of a part of a run, which Start was called for, will never start, or have ended without a word of
	// their guards; "" if nothing is known of that. refused says that others have taken their room: the run is no death, and is decided
	// anew. Trouble is not called while the run is being started.
	Trouble(ctx context.Context, job string, attempt int64, part Part) (why string, refused bool, err error)
}

// Holder is a Manager that keeps the room of containers that are about to end for the next ones of this program, where others'
// containers wait for any. It is optional.
type Holder interface {
	// Hold is called for each server of a run before anything of the run is ended. What cannot be held is no reason not to end it.
	Hold(ctx context.Context, job string, attempt int64)
}

// Task is a run that a cluster manager is to start.
type Task struct {
	runner.Run
	// Epoch is that of the master.
	Epoch int64
	// Spec says what the job runs, as in agent.Order.
	Spec json.RawMessage
	// User is whom the manager is to start the containers as, by its own word; nil: the user of this program. The folders of the
	// run are that user's.
	User *command.User
	// Credential is the path of the file with the credential that the guards of this run sign claims with: they and no others.
	// Nobody but User can read it.
	Credential string
	// Authorities is that of the Config.
	Authorities string
	// Again says that Start was called for the run before, by this master or by one that has died, and may have been carried out. A
	// manager that keeps no record of what it was asked for starts nothing then: what is missing is found by Trouble.
	Again bool
}

// WriteScript writes a file into the folder of the run, in place of one that is there, which the user of the run may run and nobody
// else can read.
func (t *Task) WriteScript(name string, text []byte) error {
	u := ownerOf(t.User)
	return owner.ReplaceScript(filepath.Join(t.Dir, name), text, u.UID, u.GID)
}

func ownerOf(u *command.User) command.User {
	if u == nil {
		return command.User{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}
	}
	return *u
}

// Servers returns the servers of the task, each once, ascending, with the rank of its first container and their number:
// ranks of one server follow each other.
func (t *Task) Servers() []Part {
	var parts []Part
	for rank, server := range t.Containers {
		if n := len(parts); n > 0 && parts[n-1].Server == server {
			parts[n-1].Count++
			continue
		}
		parts = append(parts, Part{server, rank, 1})
	}
	return parts
}

// Part is what a run has on one server.
type Part struct {
	Server string
	// First is the rank of the first container there, and Count how many there are.
	First, Count int
}

// Environment returns the variables that a guard and its trainer are told on a server, see package command, but for the
// rank and the files of saves, which the guard adds.
func (t *Task) Environment(server string) map[string]string {
	env := map[string]string{
		command.EnvJob:           t.Job,
		command.EnvAttempt:       strconv.FormatInt(t.Attempt, 10),
		guard.EnvEpoch:           strconv.FormatInt(t.Epoch, 10),
		command.EnvServer:        server,
		command.EnvContainers:    strconv.Itoa(len(t.Containers)),
		command.EnvServers:       strings.Join(t.Containers, ","),
		command.EnvCheckpointDir: t.Dir,
	}
	if t.Restore != "" {
		env[command.EnvRestoreDir] = t.Restore
	}
	if t.Authorities != "" {
		env[guard.EnvCA] = t.Authorities
	}
	return env
}

// LookupUser returns the user of this machine with a name, for managers that know users by their names. Whether jobs may run as that
// user is not checked.
func LookupUser(name string) (*command.User, error) {
	known, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	u, err := command.ParseUser(known.Uid + ":" + known.Gid)
	return &u, err
}

// ranks returns the numbers of the containers of a run on a server, ascending. A rank is a position in Run.Containers, the same on
// all servers.
func ranks(run *runner.Run, server string) []int {
	var list []int
	for rank := range run.Containers {
		if run.Containers[rank] == server {
			list = append(list, rank)
		}
	}
	return slices.Clip(list)
}
