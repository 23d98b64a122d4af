// This file declares what a guard works with, and reads it from the environment of a run.

package guard

import (
	"cmp"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/command"
)

// EnvEpoch holds the epoch of the master that has started a run; the other variables are those of package command.
const EnvEpoch = "APPORTION_EPOCH"

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
	// Start is how long the guard asks before it gives up and starts nothing; 0: DefaultStart.
	Start time.Duration
	// Grace is the time between SIGTERM and SIGKILL when the guard itself is told to end; 0: SIGKILL at once.
	Grace time.Duration
	// Save is passed on to the trainer when the guard gets it; nil: no signal is.
	Save os.Signal
	// Acknowledgement is the file in which the trainer acknowledges saves; empty: there is none.
	Acknowledgement string
	// Record is the file in which the guard writes down what it knows; empty: nowhere.
	Record string
	// Cgroup is a folder of cgroup v2 below which a group may be made for the trainer; empty: no group. Where that is not
	// allowed the guard goes on without.
	Cgroup string
	// Keeper is the command of the keeper, a program that calls [Keep]; nil: this program with the argument "keep".
	Keeper []string
}

// DefaultStart is what a Start of 0 means.
const DefaultStart = 30 * time.Second

// FromEnvironment fills in what the environment of a run says, see package command: the ID, the epoch, and where saves are
// acknowledged.
func (c *Config) FromEnvironment(lookup func(string) string) error {
	c.Job, c.Server = cmp.Or(c.Job, lookup(command.EnvJob)), cmp.Or(c.Server, lookup(command.EnvServer))
	c.Acknowledgement = cmp.Or(c.Acknowledgement, lookup(command.EnvSaveAck))
	for name, to := range map[string]*int64{command.EnvAttempt: &c.Attempt, EnvEpoch: &c.Epoch} {
		text := lookup(name)
		if text == "" || *to != 0 {
			continue
		}
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return &apportion.FieldError{Item: apportion.Item{ID: "environment"}, Field: name, Err: apportion.ErrRange, Detail: strconv.Quote(text)}
		}
		*to = number
	}
	return nil
}

// Validate returns the faults of a Config.
func (c *Config) Validate() error {
	if err := c.validate(); err != nil {
		return err
	}
	var faults apportion.Faults
	item := apportion.Item{ID: "config"}
	if c.Authority == nil {
		faults.Add(item, "Authority", apportion.ErrEmpty, "")
	}
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		faults.Add(item, "Argv", apportion.ErrEmpty, "")
	}
	for field, d := range map[string]time.Duration{"Start": c.Start, "Grace": c.Grace} {
		if d < 0 {
			faults.Add(item, field, apportion.ErrNegative, d.String())
		}
	}
	return faults.Err()
}
