// This file declares what a guard works with, and reads it from the environment of a run.

package guard

import (
	"cmp"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/internal/owner"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/check"
)

// EnvEpoch holds the epoch of the master that has started a run; the other variables are those of package command.
const EnvEpoch = "APPORTION_EPOCH"

// EnvCA names the file with the authorities by which a guard believes the server that it claims from; not set: those of its machine.
const EnvCA = "APPORTION_CA"

// Config says what a guard guards. ID, Authority and Argv are required.
type Config struct {
	ID
	// Epoch is that of the master which has started the run.
	Epoch int64
	// Authority vouches for the run.
	Authority Authority
	// Argv is the trainer's command, Env its environment as in os.Environ, Dir where it starts; nil and empty: those of
	// this process.
	Argv, Env []string
	Dir       string
	// Stdout and Stderr take the trainer's output; nil: those of this process. Lines of Stdout that are readings, see
	// command.ParseLine, are its progress.
	Stdout io.Writer
	Stderr *os.File
	// User is whom the trainer runs as; this process must be root, and stays it, so that the trainer can neither end its guard nor read
	// what that knows. Nil: as this process does.
	User *command.User
	// Start is how long the guard asks before it gives up and starts nothing; 0: 30 s.
	Start time.Duration
	// Grace is the time between SIGTERM and SIGKILL when the guard itself is told to end; 0: SIGKILL at once.
	Grace time.Duration
	// Every is how often the guard claims, at most a sixth of the lease; 0: that. It is also how long a save, or a fence, may
	// be on its way to it from an authority that does not wait with its answers, as one that is asked by files.
	Every time.Duration
	// Save is passed on to the trainer when the guard gets it, and sent when a save is asked for by a grant; nil: none is.
	Save os.Signal
	// Request is the file into which the guard writes the number of a save that is asked for, with a line end; empty:
	// there is none.
	Request string
	// Acknowledgement is the file in which the trainer acknowledges saves; empty: there is none.
	Acknowledgement string
	// Record is the file in which the guard writes down what it knows; empty: nowhere.
	Record string
	// HostPID leaves the trainer among the processes of the machine: no PID namespace is made.
	HostPID bool
	// Cgroup is a folder of cgroup v2, or of the freezer of v1, below which a group may be made for the trainer; empty: no group. Where
	// that is not allowed the guard goes on without. The keeper's first thread waits in a folder of the freezer itself.
	Cgroup string
	// Containment is the least by which the run must be held; one that cannot be had is not started.
	Containment Containment
	// Held is a file that the keeper and the trainer hold, the trainer as its descriptor 3; nil: none is.
	Held *os.File
	// Keeper is the command of the keeper, a program that calls [Keep]; nil: this program with the argument "keep".
	Keeper []string

	// made is a folder that Main has made for this run, and removes.
	made string
}

// Containment is what holds the processes of a run together, whatever becomes of those that watch them; empty: Watched.
type Containment string

const (
	// Watched: guard and keeper watch each other. If both are killed at once the trainer dies, and what it has started lives on.
	Watched Containment = "none"
	// Freezer: the same, and the one that is left ends all while nothing can start another process, by a control group of version 1.
	Freezer Containment = "freezer"
	// ControlGroup: the same, at once, by one of version 2.
	ControlGroup Containment = "cgroup"
	// Namespace: a PID namespace, of which the keeper is init, or the guard where it is that of a container: the kernel ends all with it.
	Namespace Containment = "namespace"
)

// containments are all, from the least that is held to the most.
var containments = []Containment{"", Watched, Freezer, ControlGroup, Namespace}

// defaultStart is what a Start of 0 means.
const defaultStart = 30 * time.Second

// FromEnvironment fills in what the environment of a run says, see package command: the ID, the epoch, and where saves are
// asked for and acknowledged.
// lookup returns a variable, as os.Getenv does; an empty one counts as not set, and a field that is set stays as it is. The error
// is an [*apportion.FieldError] that names the variable.
func (c *Config) FromEnvironment(lookup func(string) string) error {
	c.Job, c.Server = cmp.Or(c.Job, lookup(command.EnvJob)), cmp.Or(c.Server, lookup(command.EnvServer))
	c.Acknowledgement = cmp.Or(c.Acknowledgement, lookup(command.EnvSaveAck))
	c.Request = cmp.Or(c.Request, lookup(command.EnvSaveRequest))
	// A field that is set already stays: flags win over the environment.
	rank := int64(c.Rank)
	// In a fixed order, so that of two numbers that cannot be read the same one is told each time.
	for _, f := range []struct {
		name string
		to   *int64
	}{{command.EnvAttempt, &c.Attempt}, {EnvEpoch, &c.Epoch}, {command.EnvRank, &rank}} {
		name, to, text := f.name, f.to, lookup(f.name)
		if text == "" || *to != 0 {
			continue
		}
		number, err := strconv.ParseInt(text, 10, 64)
		// A number that cannot be one is a fault, not 0: 0 would be another run, or no master.
		if err != nil || name == command.EnvRank && number > math.MaxInt32 {
			return &apportion.FieldError{Item: apportion.Item{ID: "environment"}, Field: name, Err: apportion.ErrRange, Detail: strconv.Quote(text)}
		}
		*to = number
	}
	c.Rank = int(rank)
	return nil
}

// tell writes what the trainer reads into the file Request.
func (c *Config) tell(text []byte) error {
	// A trainer with a user of its own must be able to read the file at the moment when it finds it.
	if c.User != nil {
		return owner.ReplaceFile(c.Request, text, c.User.UID, c.User.GID)
	}
	return vfs.ReplaceFile(c.Request, text)
}

// Validate returns the faults of a Config: those of the ID alone as [apportion.Faults] that name the job, or else all others, which
// name the field.
func (c *Config) Validate() error {
	// The ID has a message of its own, which names the job.
	if err := c.validate(); err != nil {
		return err
	}
	var faults apportion.Faults
	item := apportion.Item{ID: "config"}
	check.Required(&faults, item, map[string]bool{"Authority": c.Authority == nil, "Argv": len(c.Argv) == 0 || c.Argv[0] == ""})
	// A guard that is not root would find out only when the trainer is to be started, with the lease running.
	if c.User != nil {
		if err := c.User.Possible(); err != nil {
			faults.Add(item, "User", err, "")
		}
	}
	// The keeper compares positions in the list, and what is not in it would require nothing.
	if !slices.Contains(containments, c.Containment) {
		faults.Add(item, "Containment", apportion.ErrUnknown, strconv.Quote(string(c.Containment)))
	}
	check.NotNegative(&faults, item, map[string]time.Duration{"Start": c.Start, "Grace": c.Grace, "Every": c.Every})
	return faults.Err()
}
