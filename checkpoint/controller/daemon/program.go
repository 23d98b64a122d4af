// This file implements Program: the folders of a controller, and its life from the lead to the end.

// Package daemon makes a program of a [controller.Controller]: flags, folders, secrets, one leader at a time, and a page. What is
// left to the importer is a [Cluster], in a [Program] of some ten lines.
package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/store/files"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/checkpoint/wire"
)

// Guarded is how the guards of containers are started.
// The controller tells the manager's side of a job how to start its processes, and never starts one itself.
type Guarded struct {
	// Program is the path of apportion-guard on the servers, and URL where the controller hears claims. What signs them is in
	// managed.Task.Credential.
	Program, URL string
	// Shared is the folder that all servers see.
	Shared string
	// Every is how often guards claim.
	Every time.Duration
}

// Command returns the command line of a guard that signs with the credential in a file, and that asks its trainer to save by a signal;
// "": by a file. More flags may follow, then -- and the command of the trainer.
func (g Guarded) Command(credential, saveSignal string) []string {
	return []string{g.Program, "-url", g.URL, "-token-file", credential, "-every", g.Every.String(), "-save", saveSignal}
}

// Cluster is a cluster manager that can also say what runs, for a plan that is not carried out.
// The four programs implement it, and nothing else of them is known here.
type Cluster interface {
	controller.Cluster
	// Running is what runs of elastic jobs, by the manager's own word.
	// It reads what is there and not what a journal says, as a dry run has none.
	Running(ctx context.Context) (alloc.Allocation, error)
}

// Teller is a Cluster that tells the users of the manager how their jobs stand.
// It is optional: a Cluster that implements it is told after each look.
type Teller interface {
	// Tell says what has changed since it was told last.
	Tell(ctx context.Context, r *controller.Report) error
}

// Program is a controller as a program.
type Program struct {
	// Name is the program's, and Kinds the kinds of resources.
	Name  string
	Kinds apportion.Kinds
	// Idle is the default of the flag -look-idle; 0: that of -look.
	Idle time.Duration
	// Flags declares flags of the cluster manager; nil: there are none.
	Flags func(*flag.FlagSet)
	// Lead waits until no other controller leads, and returns a context that ends when another may, and what gives the lead
	// back; nil: a lock in the folder that controllers share.
	Lead func(ctx context.Context) (context.Context, func(), error)
	// Journal waits until no other controller leads and opens the journal that it has left, in place of Lead and of the files in
	// a folder, and returns what is to be closed when the controller has ended; nil: those. Flags may set it.
	Journal func(ctx context.Context, config checkpoint.Config) (*checkpoint.Machine, driver.Journal, io.Closer, error)
	// Connect returns the cluster manager for the master of an epoch, which keeps what it must remember in a folder of its
	// own; for a dry run the epoch is 0 and there is no folder.
	Connect func(epoch int64, folder string, g Guarded) (Cluster, error)
	// Advised returns the cluster manager for decisions that an autoscaler carries out, of jobs that run by themselves; nil:
	// there is no such thing.
	Advised func() (Cluster, error)
}

// Main is the main function of the program: it runs until it is told to end.
// Bad flags have been explained by the flag package, and help is no failure.
func (p *Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := p.Run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		os.Exit(1)
	}
}

// Run runs the program until the context ends. An error that wraps flag.ErrHelp was answered.
// The address of the page goes to stdout, and what goes wrong meanwhile to stderr.
func (p *Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := p.parse(args, stderr)
	if err != nil {
		return err
	}
	if s.schema != nil {
		return s.schema(stdout)
	}
	log := slog.New(slog.NewTextHandler(stderr, nil)).With("program", p.Name)
	config := controller.Config{Problem: alloc.Problem{Kinds: p.Kinds, Topology: s.topology, Theta1: s.theta1, Theta2: s.theta2}, Lease: s.lease, Look: s.look, Idle: s.idle,
		MaxDeaths: s.deaths, Reserve: s.reserve, Standing: s.standing, Hold: s.hold, MinRun: s.minRun, JobMoves: s.jobMoves, Moves: s.moves,
		// What guards say comes with their claims: oftener there is nothing new to ask for.
		Log: log, Options: &driver.Options{Poll: min(s.every, controller.DefaultLook), SaveEvery: s.save, StallAfter: s.stall, AcceptLoss: s.acceptLoss},
		Report: func(err error) { log.Warn("it is tried again", "fault", err) }}
	if s.dryRun {
		return p.plan(ctx, config, s.diary, stdout)
	}
	return p.control(ctx, &s, config, stdout)
}

// plan prints a decision and carries nothing out. With a diary it goes on, and each decision starts from what the one before has
// given in place of what runs, so that the diary says what would be moved in a day.
// It goes the way of the controller as far as the decision, so that what it prints is what the controller
// would do next.
func (p *Program) plan(ctx context.Context, config controller.Config, diary string, stdout io.Writer) error {
	// Epoch 0 is none that any master has.
	cluster, err := p.Connect(0, "", Guarded{})
	if err != nil {
		return err
	}
	running, err := cluster.Running(ctx)
	if err != nil {
		return err
	}
	config.Cluster = cluster
	problem, decision, err := controller.Plan(ctx, config, running)
	if err != nil {
		return err
	}
	explanation, err := alloc.Explain(problem, decision)
	if err != nil {
		return err
	}
	if err := controller.WriteTable(stdout, problem, decision); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "\n%v", explanation); err != nil || diary == "" {
		return err
	}
	file, err := os.OpenFile(diary, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	config.Log = slog.New(slog.NewTextHandler(file, nil))
	var advisor *controller.Advisor
	advisor = controller.NewAdvisor(config, func(context.Context) (alloc.Allocation, error) {
		if last := advisor.Last(); last.Decision != nil {
			return last.Decision.Allocation, nil
		}
		return running, nil
	})
	advisor.Run(ctx)
	return file.Close()
}

// folders are those of a controller below the shared one, which nobody else may read.
// agents has what the agents of the servers remember, and cluster what the manager's side must.
var folders = []string{"journal", "store", "agents", "cluster"}

// control runs the controller, or the advisor in its place.
// The order matters: nothing of the one before may be opened before that one has gone, and no guard may be
// answered before its journal has been read.
func (p *Program) control(ctx context.Context, s *settings, config controller.Config, stdout io.Writer) error {
	master := s.private
	for _, folder := range folders {
		if err := os.MkdirAll(filepath.Join(master, folder), 0o700); err != nil {
			return err
		}
	}
	access, err := accessIn(master)
	if err != nil {
		return err
	}
	// 1. One controller at a time: the next waits here until this one has gone.
	// ctx ends when another controller may lead, and everything below with it.
	config.Log.Info("waits until no other leads")
	ctx, release, err := p.lead(ctx, filepath.Join(master, "lock"), s.advise)
	if err != nil {
		return err
	}
	defer release()
	if s.advise {
		return p.advise(ctx, s, config, access, stdout)
	}
	// 2. What the one before has left.
	config.Secret, config.Authorities = access.secret, s.ca
	if err := belongs(s.shared, master, access.secret); err != nil {
		return err
	}
	closer, err := p.open(ctx, s, &config, master)
	if err != nil {
		return err
	}
	defer func() { _ = closer.Close() }() // the driver has closed the journal, or that has told why not
	c, err := controller.New(config)
	if err != nil {
		return err
	}
	// 3. The guards that it has started wait for an answer.
	address, end, err := s.serve(c.Handler(access.user))
	if err != nil {
		return err
	}
	defer end()
	fmt.Fprintf(stdout, "page: %s%s\ntoken: %s\n", address, c.Link(), filepath.Join(master, userToken))
	// What tells must have ended before the journal is closed, hence the wait in the deferred call.
	if teller, tells := config.Cluster.(Teller); tells {
		ctx, stop := context.WithCancel(ctx)
		var told sync.WaitGroup
		told.Go(func() { tell(ctx, teller, c, &config) })
		defer told.Wait()
		defer stop()
	}
	return c.Run(ctx)
}

// advise decides for somebody else until the context ends.
// It opens neither journal nor store, since it carries nothing out.
// Whoever reads decisions needs the user's token. There are no guards here.
func (p *Program) advise(ctx context.Context, s *settings, config controller.Config, access access, stdout io.Writer) error {
	cluster, err := p.Advised()
	if err != nil {
		return err
	}
	config.Cluster = cluster
	a := controller.NewAdvisor(config, cluster.Running)
	address, end, err := s.serve(a.Handler(access.user))
	if err != nil {
		return err
	}
	defer end()
	fmt.Fprintf(stdout, "decisions: %s/decision\ntoken: %s\n", address, filepath.Join(s.private, userToken))
	a.Run(ctx)
	return nil
}

// serve answers requests at the address until end is called, with the limits of package wire, and returns its URL. It may have port 0:
// the one that was chosen is returned.
func (s *settings) serve(handler http.Handler) (url string, end func(), err error) {
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return "", nil, err
	}
	url = s.scheme() + listener.Addr().String()
	if s.cert != "" {
		config, err := wire.ReadTLS(s.cert, s.key)
		if err != nil {
			return "", nil, errors.Join(err, listener.Close())
		}
		listener = tls.NewListener(listener, config)
	}
	server := wire.Server(handler)
	go func() { _ = server.Serve(listener) }()     // it ends with Close
	return url, func() { _ = server.Close() }, nil // nobody is answered any more, whatever it says
}

// tell tells how everything stands, as often as the cluster is looked at.
// An error is reported and the next try comes with the next look: what the manager's users see may be old,
// and is never wrong for long.
// It ends with its context, and control waits for that.
func tell(ctx context.Context, teller Teller, c *controller.Controller, config *controller.Config) {
	for {
		r := c.Report()
		if err := teller.Tell(ctx, &r); err != nil && ctx.Err() == nil {
			config.Report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(config.Look):
		}
	}
}

// open opens journal and store, and connects to the manager.
// On an error nothing stays open. The journal's epoch, which rises with each master, fences off the one
// before.
func (p *Program) open(ctx context.Context, s *settings, config *controller.Config, master string) (closer io.Closer, err error) {
	store, err := files.Open(filepath.Join(master, "store"), nil)
	if err != nil {
		return nil, err
	}
	open := p.Journal
	if open == nil {
		open = inFolder(filepath.Join(master, "journal"))
	}
	config.Machine, config.Journal, closer, err = open(ctx, checkpoint.Config{Kinds: p.Kinds, SaveLimit: s.saveLimit, Timeouts: checkpoint.Timeouts{Save: s.saveTimeout}})
	if err != nil {
		return nil, err
	}
	config.Store, config.Dir, config.Shared = store, filepath.Join(master, "agents"), s.shared
	config.Cluster, err = p.Connect(config.Machine.Epoch(), filepath.Join(master, "cluster"),
		Guarded{Program: s.guard, URL: s.url + "/lease", Shared: s.shared, Every: s.every})
	if err != nil {
		return nil, errors.Join(err, config.Journal.Close(), closer.Close())
	}
	return closer, nil
}

// inFolder opens a journal of files in a folder.
// A folder's lock keeps two controllers of one machine apart; the journal keeps those of two machines
// apart.
func inFolder(folder string) func(context.Context, checkpoint.Config) (*checkpoint.Machine, driver.Journal, io.Closer, error) {
	return func(_ context.Context, config checkpoint.Config) (*checkpoint.Machine, driver.Journal, io.Closer, error) {
		disk, err := vfs.NewOS(folder)
		if err != nil {
			return nil, nil, nil, err
		}
		machine, records, err := journal.Open(disk, config)
		if err != nil {
			return nil, nil, nil, errors.Join(err, disk.Close())
		}
		return machine, records, disk, nil
	}
}

// lead leads as the program does. Who advises opens no journal.
// The release that it returns is called once, when the controller has ended.
func (p *Program) lead(ctx context.Context, lock string, advise bool) (context.Context, func(), error) {
	if p.Journal != nil && !advise {
		return ctx, func() {}, nil // to open it is to lead
	}
	if p.Lead != nil {
		return p.Lead(ctx)
	}
	release, err := hold(ctx, lock)
	return ctx, release, err
}
