// Package kubernetes shares a Kubernetes cluster among elastic training jobs: it decides by Dorm's optimizer who has how many pods on
// which node, and resizes running jobs by checkpoints. It owns the pods of Jobs whose spec.managedBy says so; see README.md.
package kubernetes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// placeWord in front of a path has this program put the guard of its image there.
const placeWord = "place-guard"

// Main is the main function of apportion-kubernetes.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	own, err := os.Executable()
	switch {
	case len(os.Args) != 3 || os.Args[1] != placeWord:
		err = run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	case err == nil:
		err = place(own, os.Args[2])
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "apportion-kubernetes:", err)
		os.Exit(1)
	}
}

// place copies the guard that lies beside a program: the image of that has no other program which could.
func place(beside, to string) error {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(beside), "apportion-guard"))
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o755)
}

// run runs the controller until the context ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var s settings
	program := daemon.Program{Name: "apportion-kubernetes", Kinds: snapshot.Kinds()}
	program.Flags = func(flags *flag.FlagSet) {
		s.Declare(flags, &program.Kinds)
		flags.DurationVar(&s.leaderLease, "leader-lease", 2*time.Minute, "how long the API server may be away before another may lead")
		flags.StringVar(&s.claim, "claim", "", "the PersistentVolumeClaim with the shared folder, in the namespace of each job; empty: pods have it anyhow")
		flags.StringVar(&s.image, "guard-image", "", "the image of this program, by which the guard comes to the path of -guard; empty: pods have it anyhow")
		flags.StringVar(&s.class, "priority-class", "", "the PriorityClass of pods, such as one that kube-scheduler preempts for others; what their template says counts for decisions only (default that of the template)")
		flags.Func("user", "whom pods run as whose template does not say it, as 1000:1000; the default is that of their images", func(text string) error {
			user, err := command.ParseUser(text)
			s.user = &user
			return err
		})
	}
	var client kubernetes.Interface
	connect := func() (err error) {
		if client == nil {
			client, err = s.connect()
		}
		return err
	}
	program.Lead = func(ctx context.Context) (context.Context, func(), error) {
		if err := connect(); err != nil {
			return ctx, nil, err
		}
		return s.Lead(ctx, client, "apportion", s.leaderLease)
	}
	program.Connect = func(epoch int64, _ string, g daemon.Guarded) (daemon.Cluster, error) {
		if err := connect(); err != nil {
			return nil, err
		}
		s.path = g.Shared
		return newOwner(ctx, client, program.Kinds, master{epoch, g, s.mount, s.Namespace})
	}
	return program.Run(ctx, args, stdout, stderr)
}
