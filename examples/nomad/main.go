// This program shares a Nomad cluster among elastic training jobs: it decides by Dorm's optimizer who has how many
// containers on which node, and resizes running jobs by checkpoints. Jobs are marked by meta keys; see README.md.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/filestore"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/vfs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "nomad:", err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	shared, listen, url, guard string
	theta1, theta2             float64
	lease, every, look, save   time.Duration
	dryRun                     bool
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("nomad", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.shared, "shared", "", "the folder that all nodes and this program see, by its absolute path")
	flags.StringVar(&s.listen, "listen", "127.0.0.1:7190", "the address of page, API and leases")
	flags.StringVar(&s.url, "url", "", "how nodes reach that address (default http://ADDRESS)")
	flags.StringVar(&s.guard, "guard", "/usr/local/bin/apportion-guard", "the path of apportion-guard on the nodes")
	flags.Float64Var(&s.theta1, "theta1", 0.2, "how unfair a decision may be, from 0 to 1")
	flags.Float64Var(&s.theta2, "theta2", 0.3, "the part of the running jobs that one decision may move by its own will")
	flags.DurationVar(&s.lease, "lease", controller.DefaultLease, "how long jobs run on without a controller")
	flags.DurationVar(&s.every, "every", 500*time.Millisecond, "how often guards claim")
	flags.DurationVar(&s.look, "look", controller.DefaultLook, "the pause between two looks at the cluster")
	flags.DurationVar(&s.save, "save", 10*time.Minute, "how often a running job is saved")
	flags.BoolVar(&s.dryRun, "dry-run", false, "print what would be decided, and change nothing")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if s.shared == "" && !s.dryRun {
		return s, errors.New("-shared is needed")
	}
	if s.url == "" {
		s.url = "http://" + s.listen
	}
	return s, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	// Address, token and certificates come from NOMAD_ADDR, NOMAD_TOKEN, NOMAD_CACERT and so on.
	client, err := api.NewClient(api.DefaultConfig())
	if err != nil {
		return err
	}
	config := controller.Config{Problem: alloc.Problem{Kinds: kinds, Theta1: s.theta1, Theta2: s.theta2}, Lease: s.lease, Look: s.look,
		Report: func(err error) { fmt.Fprintln(stderr, "nomad:", err) }}
	if s.dryRun {
		config.Cluster = newNomad(client, 0, guarded{})
		return plan(ctx, config, stdout)
	}
	return s.control(ctx, client, config, stdout)
}

// plan prints a decision and carries nothing out.
func plan(ctx context.Context, config controller.Config, stdout io.Writer) error {
	running, err := config.Cluster.(*nomad).running(ctx)
	if err != nil {
		return err
	}
	p, decision, err := controller.Plan(ctx, config, running)
	if err != nil {
		return err
	}
	explanation, err := alloc.Explain(p, decision)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(stdout, explanation)
	return err
}

// control runs the controller until the context ends.
func (s *settings) control(ctx context.Context, client *api.Client, config controller.Config, stdout io.Writer) error {
	master := filepath.Join(s.shared, "master")
	for _, folder := range []string{"journal", "store", "agents"} {
		if err := os.MkdirAll(filepath.Join(master, folder), 0o700); err != nil {
			return err
		}
	}
	tokens, err := tokensIn(master, s.shared)
	if err != nil {
		return err
	}
	// One controller at a time: the next waits here until this one has gone.
	release, err := lead(ctx, filepath.Join(master, "lock"))
	if err != nil {
		return err
	}
	defer release()
	disk, err := vfs.NewOS(filepath.Join(master, "journal"))
	if err != nil {
		return err
	}
	config.Machine, config.Journal, err = journal.Open(disk, checkpoint.Config{Kinds: kinds})
	if err != nil {
		return err
	}
	store, err := filestore.Open(filepath.Join(master, "store"), nil)
	if err != nil {
		return err
	}
	config.Store, config.Dir, config.Shared = store, filepath.Join(master, "agents"), s.shared
	config.Cluster = newNomad(client, config.Machine.Epoch(), guarded{Program: s.guard, URL: s.url + "/lease",
		TokenFile: filepath.Join(s.shared, guardToken), Every: s.every})
	config.Options = driverOptions(s)
	c, err := controller.New(config)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: c.Handler(tokens), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // it ends with Close
	defer server.Close()
	fmt.Fprintf(stdout, "page: http://%s/?token=%s\n", listener.Addr(), tokens.User)
	return c.Run(ctx)
}

// guardToken is the file with the token of the guards, which jobs can read as well.
const guardToken = "guard.token"

// tokensIn reads the tokens, or makes them at the first time.
func tokensIn(private, shared string) (controller.Tokens, error) {
	user, err := tokenIn(filepath.Join(private, "user.token"))
	if err != nil {
		return controller.Tokens{}, err
	}
	guard, err := tokenIn(filepath.Join(shared, guardToken))
	return controller.Tokens{User: user, Guard: guard}, err
}

func tokenIn(name string) (string, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, rand.Text())
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return "", err
		}
	} else if !errors.Is(err, os.ErrExist) {
		return "", err
	}
	text, err := os.ReadFile(name)
	return strings.TrimSpace(string(text)), err
}
