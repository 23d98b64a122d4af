// This program sets how many pods jobs of other controllers have: stock Indexed Jobs, PyTorchJobs, MPIJobs, RayClusters and
// JobSets share the cluster. See the README of this folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/kubernetes/live"
	"github.com/apportion/apportion/examples/kubernetes/program"
	"github.com/apportion/apportion/examples/kubernetes/resize"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "counts:", err)
		os.Exit(1)
	}
}

// flags are what users choose.
type flags struct {
	program.Flags
	theta1, theta2 float64
}

// The name of the Lease by which one leads.
const name = "apportion-counts"

// rate is how many calls a second the program may make.
const rate = 50

// run shares the cluster until the context ends.
func run(ctx context.Context, args []string, stderr io.Writer) error {
	var f flags
	c := live.Config{Kinds: snapshot.Kinds(), Objects: resize.Kinds(), Log: slog.New(slog.NewTextHandler(stderr, nil))}
	set := flag.NewFlagSet("counts", flag.ContinueOnError)
	set.SetOutput(stderr)
	f.Declare(set, &c.Kinds)
	set.Float64Var(&f.theta1, "theta1", 0.1, "budget of unfairness")
	set.Float64Var(&f.theta2, "theta2", 0.1, "budget of adjustments")
	set.DurationVar(&c.Quiet, "quiet", time.Second, "how long after a change a decision is taken")
	set.DurationVar(&c.Every, "every", 30*time.Second, "after which time one is taken anyhow")
	set.BoolVar(&c.Dry, "dry", false, "say what would be done, and do nothing")
	if err := set.Parse(args); err != nil {
		return err
	}
	if err := f.connect(&c); err != nil {
		return err
	}
	if c.Dry {
		return f.follow(ctx, c)
	}
	return f.lead(ctx, c)
}

// connect makes the clients.
func (f *flags) connect(c *live.Config) error {
	config, err := f.Config(rate)
	if err != nil {
		return err
	}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	c.Clients = live.Clients{Interface: typed, Dynamic: untyped}
	events := record.NewBroadcaster()
	events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: typed.CoreV1().Events("")})
	c.Events = events.NewRecorder(runtime.NewScheme(), corev1.EventSource{Component: "apportion"})
	return nil
}

// follow shares the cluster.
func (f *flags) follow(ctx context.Context, c live.Config) error {
	return live.Resize(ctx, c, alloc.Problem{Theta1: f.theta1, Theta2: f.theta2})
}

// lease is how long a leader's lease is, as Kubernetes' own components have it.
const lease = 15 * time.Second

// lead shares the cluster while this program leads. It ends when it does not any more: one that is started again begins with what is
// there.
func (f *flags) lead(ctx context.Context, c live.Config) error {
	leading, release, err := f.Lead(ctx, c.Clients, name, lease)
	if err != nil {
		return err
	}
	defer release()
	if err := f.follow(leading, c); ctx.Err() != nil || leading.Err() == nil {
		return err
	}
	return errors.New("another leads now")
}
