// This program sets how many pods jobs of other controllers have: stock Indexed Jobs, PyTorchJobs, MPIJobs, RayClusters and
// JobSets share the cluster. See the README of this folder.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/kubernetes/live"
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
	kubeconfig, namespace, identity string
	theta1, theta2                  float64
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
	host, _ := os.Hostname() // "": the flag is needed
	set.StringVar(&f.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "how to reach the API server; empty: as a pod")
	set.StringVar(&f.namespace, "namespace", cmp.Or(os.Getenv("POD_NAMESPACE"), "default"), "the namespace of this program, for its Lease")
	set.StringVar(&f.identity, "identity", host, "the name under which this program leads")
	set.Float64Var(&f.theta1, "theta1", 0.1, "budget of unfairness")
	set.Float64Var(&f.theta2, "theta2", 0.1, "budget of adjustments")
	set.DurationVar(&c.Quiet, "quiet", time.Second, "how long after a change a decision is taken")
	set.DurationVar(&c.Every, "every", 30*time.Second, "after which time one is taken anyhow")
	set.BoolVar(&c.Dry, "dry", false, "say what would be done, and do nothing")
	set.Func("kinds", "the kinds of resources, with commas (default "+strings.Join(c.Kinds, ",")+")", func(text string) error {
		c.Kinds = apportion.Kinds(strings.Split(text, ","))
		return nil
	})
	if err := set.Parse(args); err != nil {
		return err
	}
	if f.identity == "" {
		return errors.New("-identity is needed: this machine has no name")
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
	config, err := rest.InClusterConfig()
	if f.kubeconfig != "" {
		config, err = clientcmd.BuildConfigFromFlags("", f.kubeconfig)
	}
	if err != nil {
		return err
	}
	config.QPS, config.Burst = rate, 2*rate
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

// The parts of a leader's lease: as Kubernetes' own components have them.
const (
	lease = 15 * time.Second
	renew = 10 * time.Second
	retry = 2 * time.Second
)

// lead shares the cluster while this program leads. It ends when it does not any more: who is started again begins with what is
// there.
func (f *flags) lead(ctx context.Context, c live.Config) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name}, Client: c.Clients.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: f.identity}},
		LeaseDuration: lease, RenewDeadline: renew, RetryPeriod: retry, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { ended <- f.follow(ctx, c); stop() },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	elector.Run(ctx)
	if ctx.Err() == nil {
		return errors.New("another leads now")
	}
	select {
	case err := <-ended:
		return err
	default:
		return ctx.Err()
	}
}
