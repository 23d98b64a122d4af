// This file lets one controller lead at a time, by a Lease.

package kubernetes

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// leaseName is the name of the Lease.
const leaseName = "apportion"

// The parts of a leader's lease: for so much of it the leader tries to renew before it gives up, this often. It gives up before
// another may lead, so that two never answer guards.
const (
	renewPart = 3 // two thirds of it
	retryPart = 15
)

// lead waits until this program leads. The context ends when it does not any more. What a Lease cannot do, a leader that was
// cut off and writes late, the journal does, and the note of each job, which has the epoch of the journal.
func lead(ctx context.Context, client kubernetes.Interface, s *settings) (context.Context, func(), error) {
	if s.identity == "" {
		return ctx, nil, errors.New("-identity is needed: this machine has no name")
	}
	elected, ended := make(chan struct{}), make(chan struct{})
	// The Lease is given back by release alone, when guards get no answer any more: not when the program is told to end.
	under, stop := context.WithCancel(context.WithoutCancel(ctx))
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: leaseName}, Client: client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: s.identity}},
		LeaseDuration: s.leaderLease, RenewDeadline: 2 * s.leaderLease / renewPart, RetryPeriod: s.leaderLease / retryPart,
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
