// This file implements the command line of a guard: for the program apportion-guard, and for programs that are their own
// guards.

package guard

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/internal/owner"
	"github.com/apportion/apportion/checkpoint/wire"
)

// What the program exits with when the trainer's own status is not the reason. The numbers are those of sysexits(3).
const (
	exitUsage   = 64 // the command line or the environment is wrong
	exitFailed  = 70 // the trainer could not be started
	exitLease   = 75 // nobody has vouched for the run in time, or any more: another attempt may run
	exitFenced  = 77 // the run is fenced off
	exitSignals = 128
)

// Main is the program of a guard: it runs until nothing of its run lives, and returns the exit status. args are those of
// apportion-guard, see its -help, and beside them one for each road. program is how this very program is called so that it calls
// Main, for the keeper that a guard starts; nil: by its name alone.
func Main(program, args []string, stderr io.Writer, roads ...Road) int {
	// A guard starts this same program as its keeper, so that one file serves both.
	if len(args) == 1 && args[0] == keepWord {
		Keep()
		return 0
	}
	c, err := parse(args, stderr, roads)
	if c.made != "" {
		defer os.RemoveAll(c.made) // a folder that stays does no harm
	}
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "apportion-guard:", err)
		return exitUsage
	}
	if program != nil {
		c.Keeper = append(slices.Clone(program), keepWord)
	}
	// Both signals mean that the run is to end politely; SIGKILL to the guard ends it at once, by the keeper.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	end, err := Run(ctx, c)
	if err != nil {
		fmt.Fprintln(stderr, "apportion-guard:", err)
	}
	return status(end, err)
}

// status is the exit status for an end.
// The end counts where the run was started; err is that of Run.
func status(end End, err error) int {
	// A scheduler that reads the status only must be able to tell a run that may be tried again from one that must not.
	switch {
	// Nobody vouched before the guard gave up, or was told to end: another try may be granted.
	case errors.Is(err, ErrRefused) && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)), end.Why == LeaseOver:
		return exitLease
	case errors.Is(err, ErrRefused), end.Why == Fenced:
		return exitFenced
	case err != nil:
		return exitFailed
	// As a shell says it. Whatever signal it was, the trainer has not ended by its own will.
	case end.Signal != "":
		return exitSignals + int(syscall.SIGKILL)
	}
	return end.Code
}

// Road is a way to an authority, for a guard's program that has others than apportion-guard.
type Road struct {
	// Name is the flag that chooses it, and Usage what -help says of that.
	Name, Usage string
	// Open returns the authority for the flag's value, which is not empty.
	Open func(value string) (Authority, error)
}

// ownRoads are those of apportion-guard. The files of token and ca are read when all flags were.
// Only -url needs one: the folder of a socket says by its permissions who may speak.
func ownRoads(token, ca *string) []Road {
	return []Road{
		{"url", "where claims are posted to", func(url string) (Authority, error) {
			credential, err := readCredential(*token)
			if err != nil || *ca == "" {
				return &HTTP{URL: url, Credential: credential}, err
			}
			config, err := wire.ReadAuthorities(*ca)
			return &HTTP{URL: url, Credential: credential, Client: wire.HTTP(config)}, err
		}},
		{"socket", "the Unix socket to which claims are posted", func(path string) (Authority, error) { return NewSocket(path), nil }},
	}
}

// authority opens the one road that was chosen.
// values are those of the flags, at the positions of their roads.
func authority(roads []Road, values []*string) (Authority, error) {
	// The position of the road whose flag has a value; -1: none has.
	chosen := -1
	for i, value := range values {
		if *value == "" {
			continue
		}
		// Two authorities could disagree, and one of them would not be asked.
		if chosen >= 0 {
			return nil, needed(roads)
		}
		chosen = i
	}
	if chosen < 0 {
		return nil, needed(roads)
	}
	return roads[chosen].Open(*values[chosen])
}

// needed says that one of the roads must be chosen, and which there are: a guard's program may have more than apportion-guard.
func needed(roads []Road) error {
	names := make([]string, len(roads))
	for i, r := range roads {
		names[i] = "-" + r.Name
	}
	return fmt.Errorf("either %s is needed", strings.Join(names, " or "))
}

// parse reads the command line and the environment.
// The error is one of the command line or the environment, or flag.ErrHelp when help was asked for and printed.
func parse(args []string, stderr io.Writer, more []Road) (Config, error) {
	// What is wrong is told by the program, with its name before it; flag prints its own words to stderr as well.
	var c Config
	flags := flag.NewFlagSet("apportion-guard", flag.ContinueOnError)
	flags.SetOutput(stderr)
	// The flags are read into the Config itself where they can be, and beside it where they need more than a look.
	token := flags.String("token-file", "", "the file of the credential that signs claims to -url")
	ca := flags.String("ca", os.Getenv(EnvCA), "the file of the authorities by which the server of -url is believed (default $"+EnvCA+")")
	roads := append(ownRoads(token, ca), more...)
	values := make([]*string, len(roads))
	for i, r := range roads {
		values[i] = flags.String(r.Name, "", r.Usage)
	}
	held := flags.Int("held", 0, "a descriptor that the trainer is to hold, as its descriptor 3; 0: none")
	save := flags.String("save", "", "the signal that asks the trainer to save: USR1, USR2 or HUP")
	user := flags.String("user", "", "whom the trainer runs as: USER or USER:GROUP with further groups behind it and commas between, by names or numbers; needs root")
	rank := flags.String("rank", "", "the number of this container, from 0; a sum, as 4+2, is one as well (default $APPORTION_RANK)")
	dir := flags.String("dir", "", "the folder for the files of saves, if the environment names none (default a new one)")
	flags.DurationVar(&c.Every, "every", 0, "how often to claim at least (default a sixth of the lease)")
	flags.StringVar(&c.Record, "record", "", "the file in which to write down what is known of the run")
	flags.StringVar(&c.Cgroup, "cgroup", "", "a folder of cgroup v2, or of the freezer of v1, below which a group may be made")
	flags.BoolVar(&c.HostPID, "host-pid", false, "leave the trainer among the processes of the machine: no PID namespace")
	flags.StringVar((*string)(&c.Containment), "require-containment", string(Watched), "what must hold the run, or it is not started: none, freezer, cgroup or namespace")
	flags.DurationVar(&c.Start, "start", defaultStart, "how long to ask before giving up")
	flags.DurationVar(&c.Grace, "grace", 10*time.Second, "the time between SIGTERM and SIGKILL")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	// Everything behind the flags, or behind "--", is the trainer's.
	c.Argv = flags.Args()
	var known bool
	if c.Save, known = signals[strings.TrimPrefix(*save, "SIG")]; !known {
		return c, fmt.Errorf("-save %q: USR1, USR2 or HUP", *save)
	}
	var err error
	if c.Authority, err = authority(roads, values); err != nil {
		return c, err
	}
	// The number is one of this process, which has inherited the file from whoever has started it.
	if *held > 0 {
		c.Held = os.NewFile(uintptr(*held), "held")
	}
	if *user != "" {
		u, err := command.ParseUser(*user)
		if err != nil {
			return c, fmt.Errorf("-user: %w", err)
		}
		c.User = &u
	}
	own := map[string]string{}
	c.made, err = setFiles(own, *dir, c.User)
	if err := errors.Join(err, setRank(own, *rank)); err != nil {
		return c, err
	}
	// The trainer is told what the guard goes by.
	c.Env = os.Environ()
	for _, name := range slices.Sorted(maps.Keys(own)) {
		c.Env = append(c.Env, name+"="+own[name])
	}
	// What the flags have made wins over the environment that the guard was started with.
	lookup := func(name string) string { return cmp.Or(own[name], os.Getenv(name)) }
	err = errors.Join(c.FromEnvironment(lookup), c.Validate())
	return c, err
}

// setRank sets the number of the container. A cluster manager that numbers those of each server from 0 gives a sum.
// The number is at most 2^31-1.
func setRank(own map[string]string, sum string) error {
	if sum == "" {
		return nil
	}
	// Each term is checked before it is added, so that the sum cannot leave the range.
	rank := 0
	for term := range strings.SplitSeq(sum, "+") {
		n, err := strconv.Atoi(term)
		if err != nil || n < 0 || rank > math.MaxInt32-n {
			return fmt.Errorf("-rank %q: a number from 0, or a sum of such", sum)
		}
		rank += n
	}
	own[command.EnvRank] = strconv.Itoa(rank)
	return nil
}

// setFiles names the files by which a trainer is asked to save and says that it has, where the environment does not. A user of its own
// may write into a folder of its own below the guard's, and only there.
// Without a folder it makes one, and returns that.
func setFiles(own map[string]string, dir string, user *command.User) (made string, err error) {
	if os.Getenv(command.EnvSaveRequest) != "" && os.Getenv(command.EnvSaveAck) != "" {
		return "", nil
	}
	if dir == "" {
		if made, err = os.MkdirTemp("", "apportion-"); err != nil {
			return "", err
		}
		dir = made
	}
	// Both or none: a request without an acknowledgement would be waited for in vain.
	own[command.EnvSaveRequest] = filepath.Join(dir, "request")
	answers := dir
	if user != nil {
		answers = filepath.Join(dir, "own")
		if err := errors.Join(owner.Pass(dir), owner.Folder(answers, user.UID, user.GID)); err != nil {
			return made, err
		}
	}
	own[command.EnvSaveAck] = filepath.Join(answers, "acknowledgement")
	return made, nil
}

// readCredential reads the credential of a guard. What is posted to a URL must be signed: anybody may listen there.
// The file holds what wire.ReadCredential reads.
func readCredential(name string) (wire.Credential, error) {
	if name == "" {
		return wire.Credential{}, errors.New("-url needs -token-file")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return wire.Credential{}, err
	}
	return wire.ReadCredential(text)
}
