// This file says what an error of etcd means for a master.

package etcdjournal

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// explain names what has failed: the context that a caller has ended, or etcd.
func (j *Journal) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil || hopeless(err) {
		return fmt.Errorf("etcdjournal: %w", err)
	}
	return fmt.Errorf("%w within %v: %w", ErrNoAnswer, j.options.Limit, err)
}

// hopeless reports whether an error of etcd is about what was asked, so that to ask again is of no use. All others are about
// the state of the cluster, which may pass.
func hopeless(err error) bool {
	for _, final := range []error{rpctypes.ErrRequestTooLarge, rpctypes.ErrTooManyOps, rpctypes.ErrNoSpace, rpctypes.ErrPermissionDenied,
		rpctypes.ErrAuthFailed, rpctypes.ErrInvalidAuthToken, rpctypes.ErrUserEmpty, clientv3.ErrNoAvailableEndpoints} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}
