// This file implements Flags, and Lead: one program leads at a time, by a Lease.

// Package program is what the programs beside an API server have in common: how they reach it, and that one of them leads.
package program

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"os"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/apportion/apportion"
)

// Flags are those of every program.
type Flags struct {
	// Kubeconfig is how the API server is reached; "": as a pod reaches it.
	Kubeconfig string
	// Namespace is that of the program and of its Lease, and Identity the name under which it leads.
	Namespace, Identity string
}

// Declare declares the flags, and that of the kinds of resources.
func (f *Flags) Declare(set *flag.FlagSet, kinds *apportion.Kinds) {
	host, _ := os.Hostname() // "": the flag is needed
	set.StringVar(&f.Kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "how to reach the API server; empty: as a pod")
	set.StringVar(&f.Namespace, "namespace", cmp.Or(os.Getenv("POD_NAMESPACE"), "default"), "the namespace of this program, for its Lease")
	set.StringVar(&f.Identity, "identity", cmp.Or(os.Getenv("POD_NAME"), host), "the name under which this program leads: one that is started again under its name leads at once")
	DeclareKinds(set, kinds)
}

// DeclareKinds declares the flag of the kinds of resources, whose default is what they are.
func DeclareKinds(set *flag.FlagSet, kinds *apportion.Kinds) {
	set.Func("kinds", "the controller's kinds of resources, with commas (default "+strings.Join(*kinds, ",")+")", func(text string) error {
		*kinds = apportion.Kinds(strings.Split(text, ","))
		return nil
	})
}

// Config is how a program reaches the API server that makes so many calls a second at most.
func (f *Flags) Config(rate float32) (*rest.Config, error) {
	config, err := rest.InClusterConfig()
	if f.Kubeconfig != "" {
		config, err = clientcmd.BuildConfigFromFlags("", f.Kubeconfig)
	}
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = rate, 2*int(rate)
	return config, nil
}

// The parts of a leader's lease: for so much of it the leader tries to renew before it gives up, this often. It gives up before
// another may lead, so that two never answer guards.
const (
	renewPart = 3 // two thirds of it
	retryPart = 15
)

// Lead waits until this program leads by a Lease of a name and a length. The context that it returns ends when it does not any more.
// What a Lease cannot do, a leader that was cut off and writes late, the journal does, and the note of each job, which has the epoch of
// the journal. The release gives the Lease back.
func (f *Flags) Lead(ctx context.Context, client kubernetes.Interface, name string, length time.Duration) (context.Context, func(), error) {
	if f.Identity == "" {
		return ctx, nil, errors.New("-identity is needed: this machine has no name")
	}
	elected, ended := make(chan struct{}), make(chan struct{})
	// The Lease is given back by release alone, when guards get no answer any more: not when the program is told to end.
	under, stop := context.WithCancel(context.WithoutCancel(ctx))
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: name}, Client: client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: f.Identity}},
		LeaseDuration: length, RenewDeadline: 2 * length / renewPart, RetryPeriod: length / retryPart,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(elected) },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		stop()
		return ctx, nil, err
	}
	leading, end := context.WithCancel(ctx)
	go func() {
		defer close(ended)
		defer end()
		elector.Run(under) // it ends when the lead is lost
	}()
	release := func() {
		stop()
		<-ended
	}
	select {
	case <-elected:
		return leading, release, nil
	case <-ctx.Done():
		release()
		return ctx, nil, ctx.Err()
	case <-ended:
		stop()
		return ctx, nil, errors.New("the Lease cannot be had")
	}
}
