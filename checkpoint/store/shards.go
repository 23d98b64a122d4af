// This file implements Store: checkpoints of several writers, each of which commits a share.

package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// The names behind which shares are kept. No job may be called so.
const (
	// reserved begins the names of all jobs of ours; shardPrefix is followed by the index of a share and a slash, and
	// widthPrefix by the name of the job.
	reserved    = "apportion-shard"
	shardPrefix = reserved + "-"
	widthPrefix = reserved + "s/"
)

// listName is the one part of a checkpoint that consists of shares.
const listName = "apportion-shards"

// Shards is a [Sharded] on another store. It is safe for concurrent use, in several processes as well: it has no state
// beside the store behind.
type Shards struct{ under Store }

var _ Sharded = (*Shards)(nil)

// NewShards returns a store whose checkpoints may have several writers. Every process that uses a medium with shares must use it
// so: without it, a checkpoint of shares has a single part, and its shares are jobs that are not known. It reads and writes
// nothing.
func NewShards(under Store) *Shards { return &Shards{under} }

// shardOf is the job whose checkpoints are the shares with an index. The index comes first: the name of a job may end in
// anything, a number and a slash as well.
func shardOf(job string, index int) string { return fmt.Sprintf("%s%d/%s", shardPrefix, index, job) }

// checkReserved refuses the names that are taken. All else the store behind checks.
// A job of such a name could commit what this package takes for a share or for the record of a width.
func checkReserved(job string) error {
	if strings.HasPrefix(job, reserved) {
		return fmt.Errorf("job %.60q: %q begins the names of shares: %w", job, reserved, ErrName)
	}
	return nil
}

// enterShards begins a method that is about one checkpoint. The context is looked at first, as in every store, so that one that has
// ended is told whatever the names are.
func enterShards(ctx context.Context, job string, number int64) error {
	if err := enter(ctx, job, number); err != nil {
		return Wrap(job, number, err)
	}
	return checkReserved(job)
}

// Begin implements Store: a checkpoint of one writer.
func (s *Shards) Begin(ctx context.Context, job string, number int64) (Writer, error) {
	if err := enterShards(ctx, job, number); err != nil {
		return nil, err
	}
	w, err := s.under.Begin(ctx, job, number)
	if err != nil {
		return nil, err
	}
	return &shardWriter{w, job, number}, nil
}

// BeginShard implements Sharded.
// It costs a list of records beyond a Begin, and a small commit when the job has more shares than it ever had.
func (s *Shards) BeginShard(ctx context.Context, job string, number int64, share Share) (Writer, error) {
	if err := enterShards(ctx, job, number); err != nil {
		return nil, err
	}
	if err := share.Check(job); err != nil {
		return nil, Wrap(job, number, err)
	}
	// How many there are is on record before there is one: a share that nobody looks for would stay for ever.
	if err := s.widen(ctx, job, share.Of); err != nil {
		return nil, err
	}
	// The number is that of the checkpoint, so that the fences of the store behind hold for shares as they are.
	w, err := s.under.Begin(ctx, shardOf(job, share.Index), number)
	if err != nil {
		return nil, err
	}
	return &shardWriter{w, job, number}, nil
}

// widen puts on record that a job has so many shares, unless it had as many before.
// The record is a checkpoint without parts whose number is the width, since commits are what a store
// promises to keep.
func (s *Shards) widen(ctx context.Context, job string, shares int) error {
	// The record only grows: a job that has fewer shares today has still those of yesterday.
	width, err := s.width(ctx, job)
	if err != nil || width >= shares {
		return err
	}
	w, err := s.under.Begin(ctx, widthPrefix+job, int64(shares))
	if err != nil {
		return err
	}
	// Several writers do this at the same time: the commits are equal, so each succeeds.
	if _, err := w.Commit(); err != nil {
		return errors.Join(err, w.Abort())
	}
	return nil
}

// width is how many shares a checkpoint of the job has had at most.
// Zero stands for a job that never had shares. The records are ascending, so the last has the highest.
func (s *Shards) width(ctx context.Context, job string) (int, error) {
	records, err := s.under.List(ctx, widthPrefix+job)
	// A record is empty, so its number says all. One that is damaged is not listed, and what it said is not known.
	if err != nil || len(records) == 0 {
		return 0, err
	}
	return int(records[len(records)-1].Number), nil
}

// eachShard does something with the jobs of all shares of a job, one after the other, and gets on with the others where one
// fails. It returns all errors. A job that never had shares costs one list of nothing.
// O(width) calls. Where the width cannot be read, no share is looked for, and the error says so: a caller that
// deletes tries again.
func (s *Shards) eachShard(ctx context.Context, job string, do func(shard string) error) error {
	width, err := s.width(ctx, job)
	for i := range width {
		err = errors.Join(err, do(shardOf(job, i)))
	}
	return err
}

// Delete implements Store.
// It may be called again after an error, and by several at once: what is not there is no error.
func (s *Shards) Delete(ctx context.Context, job string, number int64) error {
	if err := enterShards(ctx, job, number); err != nil {
		return err
	}
	// The manifest goes first: a checkpoint that is visible is whole.
	// In the other order a crash would leave a checkpoint that is listed and whose shares are gone.
	if err := s.under.Delete(ctx, job, number); err != nil {
		return err
	}
	return s.eachShard(ctx, job, func(shard string) error { return s.under.Delete(ctx, shard, number) })
}

// Fence implements Store. The job's own fence decides what becomes visible; those of the shares save the late ones
// the work.
func (s *Shards) Fence(ctx context.Context, job string, number int64) error {
	if err := enterShards(ctx, job, number); err != nil {
		return err
	}
	if err := s.under.Fence(ctx, job, number); err != nil {
		return err
	}
	return s.eachShard(ctx, job, func(shard string) error { return s.under.Fence(ctx, shard, number) })
}

// Identity implements Store: shares make no medium of their own.
func (s *Shards) Identity(ctx context.Context) (Identity, error) { return s.under.Identity(ctx) }

// Prune implements Sharded.
// It is for a time at which nothing below that number is being saved, behind a fence for example: a share whose
// Join is still to come looks like one that was forgotten. It reads no part.
func (s *Shards) Prune(ctx context.Context, job string, below int64) error {
	if err := enterShards(ctx, job, below); err != nil {
		return err
	}
	// Where the list of checkpoints is not whole, a share may belong to one that is missing in it.
	checkpoints, err := s.under.List(ctx, job)
	if err != nil {
		return err
	}
	// A share belongs to the checkpoint of its number, if that is there: it may be of one writer, and then has none.
	needed := map[int64]bool{}
	for _, m := range checkpoints {
		needed[m.Number] = true
	}
	// The checkpoints were listed before the shares: what is joined in between is not below the number, as the
	// caller promises.
	return s.eachShard(ctx, job, func(shard string) error {
		found, err := s.under.List(ctx, shard)
		for _, m := range found {
			if m.Number < below && !needed[m.Number] {
				err = errors.Join(err, s.under.Delete(ctx, shard, m.Number))
			}
		}
		return err
	})
}

// shardWriter refuses the name of the list.
// It passes all else on to the writer behind, which has the rules of every writer. job and number are those
// that the caller knows.
type shardWriter struct {
	Writer
	job    string
	number int64
}

func (w *shardWriter) Part(name string) (io.WriteCloser, error) {
	if err := w.checkPart(name); err != nil {
		return nil, err
	}
	return w.Writer.Part(name)
}

// checkPart refuses the name that is taken.
// With that name a checkpoint of one part would be taken for a list, and refused as a damaged one.
func (w *shardWriter) checkPart(name string) error {
	if name == listName {
		return Wrap(w.job, w.number, fmt.Errorf("part %q is the list of shares: %w", name, ErrName))
	}
	return nil
}

// Take implements Taker where the store behind does.
// It must be here, since embedding shows the methods of Writer only, and a share is what is worth taking
// without a copy.
func (w *shardWriter) Take(name string, file fs.File, given bool) (bool, error) {
	taker, ok := w.Writer.(Taker)
	if !ok {
		return false, errors.ErrUnsupported
	}
	if err := w.checkPart(name); err != nil {
		return false, err
	}
	return taker.Take(name, file, given)
}

// Commit implements Writer. What it returns is the manifest of the job, also for a share: the name under which a share
// is kept is nobody's business.
func (w *shardWriter) Commit() (Manifest, error) {
	m, err := w.Writer.Commit()
	if err != nil {
		return Manifest{}, err
	}
	m.Job = w.job
	return m, nil
}
