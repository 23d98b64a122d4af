// This file reads the flags of a program.

package daemon

import (
	"cmp"
	"errors"
	"flag"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/driver"
)

// settings are the flags.
// shared, private and url have defaults that follow from others, which parse fills in.
type settings struct {
	shared, private, listen, url, guard string
	cert, key, ca                       string
	acceptLoss                          string
	theta1, theta2                      float64
	lease, every, look, idle, save      time.Duration
	saveTimeout, saveLimit, stall       time.Duration
	deaths                              int
	reserve                             []controller.Reserve
	topology                            []string
	standing                            *int64
	hold, minRun                        time.Duration
	jobMoves, moves                     int
	diary, config                       string
	schema                              func(io.Writer) error // writes the schema, where that is asked for
	dryRun, advise                      bool
}

// parse reads the flags.
// Errors of the flags themselves are printed by their package.
func (p *Program) parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.shared, "shared", "", "the folder that all servers and this program see, by its absolute path")
	flags.StringVar(&s.private, "private", "", "the folder of this program alone, for journal and checkpoints (default SHARED/master)")
	flags.StringVar(&s.listen, "listen", "127.0.0.1:7190", "the address of page, API and leases")
	flags.StringVar(&s.url, "url", "", "how servers reach that address (default http://ADDRESS, or https with -tls-cert)")
	flags.StringVar(&s.cert, "tls-cert", "", "the file of the certificate of that address, with its chain, as PEM: TLS is spoken there")
	flags.StringVar(&s.key, "tls-key", "", "the file of the certificate's key, as PEM")
	flags.StringVar(&s.ca, "tls-ca", "", "the file, on all servers, of the authorities by which guards believe it (default those of the servers)")
	flags.StringVar(&s.guard, "guard", "/usr/local/bin/apportion-guard", "the path of apportion-guard on the servers")
	// The two thresholds are those of [Dorm] (15) and (16), a little wider than the paper's: a cluster with
	// others' jobs in it moves by itself.
	flags.Float64Var(&s.theta1, "theta1", 0.2, "how unfair a decision may be, from 0 to 1")
	flags.Float64Var(&s.theta2, "theta2", 0.3, "the part of the running jobs that one decision may move by its own will")
	flags.DurationVar(&s.lease, "lease", controller.DefaultLease, "how long jobs run on without a controller")
	flags.DurationVar(&s.every, "every", 500*time.Millisecond, "how often guards claim")
	flags.DurationVar(&s.look, "look", controller.DefaultLook, "the pause between two looks at the cluster")
	flags.DurationVar(&s.idle, "look-idle", p.Idle, "the longest pause between two looks while nothing changes; 0: that of -look")
	flags.DurationVar(&s.save, "save", 10*time.Minute, "how often a running job is saved")
	flags.DurationVar(&s.saveTimeout, "save-timeout", checkpoint.DefaultTimeout, "how long one try to save a job may take")
	flags.DurationVar(&s.saveLimit, "save-limit", checkpoint.DefaultSaveLimit, "how long a job that is to move may take to be saved at least, until it is moved without; below 0: for ever")
	flags.DurationVar(&s.stall, "stall-after", driver.DefaultStallAfter, "how long a job may tell no new step until it is resumed from its newest checkpoint; below 0: for ever")
	flags.IntVar(&s.deaths, "max-deaths", controller.DefaultMaxDeaths, "how many runs of a job may die without a step further until it has failed; -1: any number")
	flags.Func("reserve", "what elastic jobs leave free on each server, as cpu=2,memory=10%; the most of several, as \"cpu=1; cpu=8 08:00-18:00 mon-fri\", by local time", func(text string) (err error) {
		s.reserve, err = reserveOf(p.Kinds, text)
		return err
	})
	flags.Func("topology", "the labels of servers that say in which domain one is, from wide to narrow, as zone,rack", func(text string) error {
		s.topology = strings.Split(text, ",")
		return (&alloc.Problem{Kinds: p.Kinds, Topology: s.topology}).Validate()
	})
	flags.Func("waiting-priority", "the priority of others' work that waits, among elastic jobs (default above all of them)", func(text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		s.standing = &n
		return err
	})
	flags.DurationVar(&s.hold, "waiting-hold", controller.DefaultHold, "how long room is kept for others' work that waits and does not begin; below 0: elastic jobs make way for none")
	flags.DurationVar(&s.minRun, "min-run", time.Minute, "how long a run is at least before a decision ends it, but for others' work that waits; a move must gain in it more than its pause costs")
	flags.IntVar(&s.jobMoves, "job-moves", 6, "how often in an hour decisions may move one job; 0: any number")
	flags.IntVar(&s.moves, "moves", 0, "how often in an hour decisions may move jobs, all together; 0: any number")
	flags.StringVar(&s.acceptLoss, "accept-loss", "", "go on without what the journal of this name has lost, see checkpoint/FAULTS.md")
	flags.BoolVar(&s.dryRun, "dry-run", false, "print what would be decided, and change nothing")
	flags.StringVar(&s.diary, "diary", "", "with -dry-run, the file to which all is added that would be decided until the program is ended, as if it had been carried out")
	flags.StringVar(&s.config, configFlag, "", "a file of JSON with flags by their names; those that are given beside it count")
	schema := flags.Bool(schemaFlag, false, "print what that file may have, as JSON Schema")
	if p.Advised != nil {
		flags.BoolVar(&s.advise, "advise", false, "decide for an autoscaler, and change nothing")
	}
	if p.Flags != nil {
		p.Flags(flags)
	}
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if *schema {
		s.schema = func(w io.Writer) error { return writeSchema(w, flags) }
		return s, nil
	}
	if s.config != "" {
		if err := readConfig(s.config, flags); err != nil {
			return s, err
		}
	}
	s.private = cmp.Or(s.private, filepath.Join(s.shared, "master"))
	// A relative path would mean something else on each server.
	if !filepath.IsAbs(s.shared) && !s.dryRun {
		return s, errors.New("-shared is needed, an absolute path")
	}
	if (s.cert == "") != (s.key == "") {
		return s, errors.New("-tls-cert and -tls-key go together")
	}
	if s.url == "" {
		s.url = s.scheme() + s.listen
	}
	return s, nil
}

func (s *settings) scheme() string {
	if s.cert != "" {
		return "https://"
	}
	return "http://"
}
