// This file implements the guard's side of a Lease.

package lease

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	client "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/apportion/apportion/checkpoint/guard"
)

// Authority claims one run by its Lease, and reads there what the desk has granted. It is safe for concurrent use, and belongs to one
// guard.
type Authority struct {
	// Leases are those of the namespace. Required.
	Leases client.LeaseInterface
	// Owner is the object with which the Lease goes, as the guard's pod; nil: it stays.
	Owner *metav1.OwnerReference

	// found says that the Lease was there with this guard's name in it: if it is gone, somebody has deleted it.
	found atomic.Bool
}

var _ guard.Authority = (*Authority)(nil)

// tries is how often a claim is made against the newest version of a Lease. The desk writes once for each claim, so the second time
// succeeds unless somebody else writes as well.
const tries = 4

// errNoAnswer: the claim is made, and nobody has answered this guard yet.
var errNoAnswer = errors.New("lease: no desk has answered yet")

// Renew implements guard.Authority. The answer that it finds is one to an earlier claim, as a rule. It does not wait for a better one.
func (a *Authority) Renew(ctx context.Context, c guard.Claim) (guard.Grant, error) {
	for range tries {
		l, fenced, err := a.put(ctx, &c)
		if fenced != "" {
			return guard.Grant{Fenced: fenced}, nil
		}
		// Somebody was faster: what is there now is read again, and the claim written upon that.
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return guard.Grant{}, err
		}
		a.found.Store(true)
		var answer answered
		if read(l, grantKey, &answer) != nil || answer.Life != c.Life {
			return guard.Grant{}, errNoAnswer
		}
		return answer.Grant, nil
	}
	return guard.Grant{}, fmt.Errorf("lease: %s was changed %d times while it was claimed", Name(c.ID), tries)
}

// put writes the claim into the Lease, which is made where there never was one, and returns what stands there then. fenced says why the
// run must end.
func (a *Authority) put(ctx context.Context, c *guard.Claim) (l *coordinationv1.Lease, fenced string, err error) {
	name := Name(c.ID)
	// The read is one of etcd's newest, as it names no version.
	l, err = a.Leases.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && a.found.Load():
		return nil, "the Lease " + name + " was deleted", nil
	case apierrors.IsNotFound(err):
		l = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{Label: "true"}}}
		if a.Owner != nil {
			l.OwnerReferences = []metav1.OwnerReference{*a.Owner}
		}
		if err := claim(l, c); err != nil {
			return nil, "", err
		}
		l, err = a.Leases.Create(ctx, l, metav1.CreateOptions{})
		return l, "", err
	case err != nil:
		return nil, "", err
	}
	// A guard that is started again would start its trainer again, from a checkpoint that may be old.
	if by := l.Spec.HolderIdentity; by != nil && *by != holder(c) {
		return nil, fmt.Sprintf("attempt %d has a guard: %s", c.Attempt, *by), nil
	}
	a.found.Store(true)
	if err := claim(l, c); err != nil {
		return nil, "", err
	}
	l, err = a.Leases.Update(ctx, l, metav1.UpdateOptions{})
	return l, "", err
}
