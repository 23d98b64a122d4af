// This file declares what a store is of which several writers write one checkpoint, each a share.

package store

import (
	"context"
	"fmt"

	"github.com/apportion/apportion"
)

// Share is one of so many shares of a checkpoint. The zero value is all of it.
type Share struct {
	// Index numbers the shares, from 0; Of is how many there are, and 0 stands for 1.
	Index int `json:"index,omitempty"`
	Of    int `json:"of,omitempty"`
}

// Check returns a *apportion.FieldError with apportion.ErrRange, which names the job, unless there is such a share.
func (s Share) Check(job string) error {
	if s.Index >= 0 && s.Index < s.Of {
		return nil
	}
	return &apportion.FieldError{Item: apportion.Item{Kind: "job", ID: job}, Field: "Share", Err: apportion.ErrRange,
		Detail: fmt.Sprintf("%d of %d", s.Index, s.Of)}
}

// Sharded is a Store whose checkpoints may have several writers, on as many servers: each commits a share, and when all have,
// Join commits the checkpoint that consists of them. Until then no share is visible: neither List nor Open know it.
// [NewShards] makes a Sharded of any store, and storetest.RunSharded tests it.
type Sharded interface {
	Store
	// BeginShard opens a share of a checkpoint for writing. Its Commit makes the share durable, under the rules of every
	// Commit: a second one with the same parts succeeds, one with others returns ErrExists.
	BeginShard(ctx context.Context, job string, number int64, share Share) (Writer, error)
	// Join makes the checkpoint visible and durable that has so many shares, and returns its manifest: the parts of the
	// shares, in their order. It reads no part. ErrNotFound if a share is not committed, ErrName if two have parts of one
	// name, and ErrFenced as for every Commit; nothing becomes visible then. It may be called again.
	Join(ctx context.Context, job string, number int64, shares int) (Manifest, error)
	// Prune deletes the shares of a job below a number that belong to no checkpoint: what saves have left that never came
	// to their Join. None of them may still be under way. Delete has deleted the others.
	Prune(ctx context.Context, job string, below int64) error
}
