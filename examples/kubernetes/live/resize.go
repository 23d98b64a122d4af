// This file implements Resize: the loop that shares a cluster among jobs of other controllers.

package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/kubernetes/resize"
)

// Resize decides how many pods each elastic object has, whenever something has changed, until the context ends. settings has
// the budgets and options of decisions; servers, applications and what runs are read.
func Resize(ctx context.Context, c Config, settings alloc.Problem) error {
	cluster, err := Watch(ctx, c.Clients, c.Objects)
	if err != nil {
		return err
	}
	r := &resizer{Config: c, cluster: cluster, settings: settings, told: told{}}
	return c.loop(ctx, cluster, r.decide)
}

// resizer remembers what a decision has said.
type resizer struct {
	Config
	cluster  *Cluster
	settings alloc.Problem
	decider  alloc.Decider
	last     []byte // the problem that was decided and carried out
	told     told
}

// decide takes one decision and carries it out.
func (r *resizer) decide(ctx context.Context) error {
	o := r.cluster.Objects(time.Now())
	items, err := r.cluster.Items()
	if err != nil {
		return err
	}
	reading := resize.Read(r.Kinds, o, items)
	r.reject(reading, items)
	p := &reading.Problem
	p.Theta1, p.Theta2, p.Options = r.settings.Theta1, r.settings.Theta2, r.settings.Options
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if bytes.Equal(text, r.last) {
		return nil // it would be the same decision
	}
	d, err := r.decider.Reallocate(ctx, p)
	if err != nil {
		return err
	}
	changes, err := reading.Changes(d)
	if err != nil {
		return err
	}
	why := fmt.Sprintf("objective %.4g of at most %.4g, loss %.3g of %.3g, %d adjusted",
		d.Objective, d.Bound, d.Metrics.FairnessLoss, d.Metrics.LossBudget, d.Metrics.Adjusted)
	var errs []error
	for i := range changes {
		errs = append(errs, r.carry(ctx, &changes[i], why))
	}
	err = errors.Join(errs...)
	if err == nil {
		r.last = text
	}
	// A stale change is no fault of the decision, which is taken again on what is there by then.
	errs = slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, errStale) })
	return errors.Join(errs...)
}

// reject tells objects that are left alone why.
func (r *resizer) reject(reading *resize.Reading, items []resize.Item) {
	for i := range items {
		if why := reading.Rejected[items[i].ID()]; why != "" {
			r.told.tell(&r.Config, &items[i], corev1.EventTypeWarning, "LeftAlone", why)
		}
	}
}
