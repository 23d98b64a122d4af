// This file implements what the controller asks of a cluster.

package kubernetes

import (
	"context"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// Look implements controller.Cluster. It asks the API server nothing, but takes away pods that must not be.
func (o *owner) Look(ctx context.Context) (*controller.View, error) {
	o.looking.Lock()
	defer o.looking.Unlock()
	objects := o.seen.Objects(time.Now())
	view := o.reader.View(&objects)
	if o.epoch > 0 {
		o.sweep(ctx, objects.Jobs)
		o.release(ctx, objects.Pods)
	}
	return view, nil
}

// Running implements external.Cluster.
func (o *owner) Running(context.Context) (alloc.Allocation, error) {
	objects := o.seen.Objects(time.Now())
	return snapshot.Running(&objects), nil
}
