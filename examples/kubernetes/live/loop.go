// This file implements the loop: when to look, how a change is carried out, and who is told.

package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/kubernetes/resize"
)

// Config is what a loop needs.
type Config struct {
	Clients Clients
	// Kinds are the resources that are counted, Objects the kinds of objects that may be resized.
	Kinds   apportion.Kinds
	Objects []resize.Kind
	// Quiet is how long nothing may have happened before a decision is taken, so that a burst of events costs one; Every is
	// the time after which one is taken anyhow, and after which the API server is asked for kinds that it did not have before.
	Quiet, Every time.Duration
	// Dry says that changes are logged and not made.
	Dry bool
	// Events tells users what was done and why; nil: nobody.
	Events record.EventRecorder
	Log    *slog.Logger
}

// told is what each object was told last, by ID: nobody is told the same twice.
type told map[string]string

// loop decides whenever something has changed, until the context ends.
func (c *Config) loop(ctx context.Context, cluster *Cluster, decide func(context.Context) error) error {
	for looked := time.Now(); ; {
		if time.Since(looked) >= c.Every {
			looked = time.Now()
			if err := cluster.Look(ctx); err != nil && ctx.Err() == nil {
				c.Log.Error("kinds that are new are not known", "error", err) // the next look asks again
			}
		}
		if err := decide(ctx); err != nil && ctx.Err() == nil {
			// What could not be decided or asked for is tried again with the next decision: nothing was lost by it.
			c.Log.Error("no decision", "error", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-cluster.Changed():
		case <-time.After(c.Every):
		}
		// What comes in the meantime is seen by the same decision.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(c.Quiet):
		}
	}
}

// errStale is what carry returns of a change that somebody was before: it is dropped, and the next decision sees what was done.
var errStale = errors.New("the object is not the one that was read")

// carry makes a change.
func (c *Config) carry(ctx context.Context, change *resize.Change, why string) error {
	c.Log.Info("pods", "job", change.ID, "from", change.From, "to", change.To, "why", why, "dry", c.Dry)
	if c.Dry {
		return nil
	}
	o := change.Item.Object
	var sub []string // the object itself
	if change.Subresource != "" {
		sub = []string{change.Subresource}
	}
	_, err := c.Clients.Dynamic.Resource(change.Item.Kind.GroupVersionResource).Namespace(o.GetNamespace()).
		Patch(ctx, o.GetName(), types.JSONPatchType, change.Patch, metav1.PatchOptions{FieldManager: "apportion"}, sub...)
	switch {
	case apierrors.IsConflict(err) || apierrors.IsNotFound(err) || isStale(err):
		c.Log.Info("somebody was before", "job", change.ID, "error", err)
		return errStale
	case err != nil:
		c.tell(change.Item, corev1.EventTypeWarning, "NotResized", fmt.Sprintf("%d pods in place of %d: %v", change.To, change.From, err))
		return fmt.Errorf("%s: %w", change.ID, err)
	}
	c.tell(change.Item, corev1.EventTypeNormal, "Resized", fmt.Sprintf("%d pods in place of %d: %s", change.To, change.From, why))
	return nil
}

// isStale reports whether a patch failed because the object is not the one that was read: the API server says of a test that
// does not hold that the patch is invalid.
func isStale(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details == nil || len(details.Causes) == 0
}

// tell writes an event about an object.
func (c *Config) tell(item *resize.Item, kind, reason, text string) {
	if c.Events != nil && !c.Dry {
		c.Events.Event(item.Object, kind, reason, text)
	}
}

// tell tells an object something that it was not told last.
func (t told) tell(c *Config, item *resize.Item, kind, reason, text string) {
	if id := item.ID(); t[id] != text {
		t[id] = text
		c.Log.Info(reason, "job", id, "text", text)
		c.tell(item, kind, reason, text)
	}
}
