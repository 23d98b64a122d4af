// This file plants a flaw for each check of RunSharded; TestFlaws demands that it is seen.

package storetest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
)

// flawedShards are Shards on a flawed store, whose own methods a flaw may replace.
type flawedShards struct {
	*store.Shards
	under      *flawed
	beginShard func(ctx context.Context, job string, number int64, share store.Share) (store.Writer, error)
	join       func(ctx context.Context, job string, number int64, shares int) (store.Manifest, error)
	prune      func(ctx context.Context, job string, below int64) error
}

func (f *flawedShards) BeginShard(ctx context.Context, job string, number int64, share store.Share) (store.Writer, error) {
	return f.beginShard(ctx, job, number, share)
}

func (f *flawedShards) Join(ctx context.Context, job string, number int64, shares int) (store.Manifest, error) {
	return f.join(ctx, job, number, shares)
}

func (f *flawedShards) Prune(ctx context.Context, job string, below int64) error {
	return f.prune(ctx, job, below)
}

func (f *flawedShards) Restart(t testing.TB) store.Store {
	f.under.Restart(t)
	return f
}

func (*flawedShards) Leftovers(testing.TB) int { return 0 }

// newFlawedShards returns shards without a flaw.
func newFlawedShards() *flawedShards {
	under := &flawed{mem: mem{new(storetest.MemStore)}}
	shards := store.NewShards(under)
	return &flawedShards{shards, under, shards.BeginShard, shards.Join, shards.Prune}
}

// shardFlaws are in the order of the checks.
var shardFlaws = []struct {
	name string
	seen []string
	make func(f *flawedShards)
}{
	{"shows a share", []string{"VisibleAfterJoinOnly"}, func(f *flawedShards) {
		f.beginShard = func(ctx context.Context, job string, number int64, _ store.Share) (store.Writer, error) {
			return f.Begin(ctx, job, number)
		}
	}},
	{"writes over a share", []string{"ShareAgain"}, func(f *flawedShards) {
		f.beginShard = func(ctx context.Context, job string, number int64, share store.Share) (store.Writer, error) {
			w, err := f.Shards.BeginShard(ctx, job, number, share)
			return &writer{Writer: w, commit: func() (store.Manifest, error) {
				m, err := w.Commit()
				if errors.Is(err, store.ErrExists) {
					err = nil
				}
				return m, err
			}}, err
		}
	}},
	{"joins two parts of one name", []string{"OnePartOfTwoShares"}, func(f *flawedShards) {
		f.join = func(ctx context.Context, job string, number int64, shares int) (store.Manifest, error) {
			m, err := f.Shards.Join(ctx, job, number, shares)
			if errors.Is(err, store.ErrName) {
				err = nil
			}
			return m, err
		}
	}},
	{"forgets how wide a job was", []string{"OtherWidths", "DeleteShares", "PruneShares"}, func(f *flawedShards) {
		f.under.writes(func(w *writer, job string, _ int64) {
			if strings.HasPrefix(job, "apportion-shards/") {
				w.commit = func() (store.Manifest, error) { return store.Manifest{}, nil }
			}
		})
	}},
	{"refuses a second writer of a share", []string{"WritersOfAllShares"}, func(f *flawedShards) {
		var begun sync.Map
		f.beginShard = func(ctx context.Context, job string, number int64, share store.Share) (store.Writer, error) {
			if _, again := begun.LoadOrStore([2]int64{number, int64(share.Index)}, true); again {
				return nil, store.ErrExists
			}
			return f.Shards.BeginShard(ctx, job, number, share)
		}
	}},
	{"fences shares alone", []string{"FenceBeforeJoin"}, func(f *flawedShards) {
		f.under.fence = func(ctx context.Context, job string, number int64) error {
			if job == "job" {
				return nil
			}
			return f.under.mem.Fence(ctx, job, number)
		}
	}},
	{"deletes the list alone", []string{"DeleteShares"}, func(f *flawedShards) {
		f.under.delete = func(ctx context.Context, job string, number int64) error {
			if job != "job" {
				return nil
			}
			return f.under.mem.Delete(ctx, job, number)
		}
	}},
	{"prunes the number as well", []string{"PruneShares"}, func(f *flawedShards) {
		f.prune = func(ctx context.Context, job string, below int64) error { return f.Shards.Prune(ctx, job, below+1) }
	}},
	{"loses the share that follows on a dead writer", []string{"WriterDies"}, func(f *flawedShards) {
		var begun sync.Map
		f.beginShard = func(ctx context.Context, job string, number int64, share store.Share) (store.Writer, error) {
			w, err := f.Shards.BeginShard(ctx, job, number, share)
			if _, again := begun.LoadOrStore([2]int64{number, int64(share.Index)}, true); err != nil || !again {
				return w, err
			}
			return &writer{Writer: w, commit: func() (store.Manifest, error) { return store.Manifest{}, nil }}, nil
		}
	}},
	{"takes every share", []string{"BadShares"}, func(f *flawedShards) {
		f.beginShard = func(ctx context.Context, job string, number int64, share store.Share) (store.Writer, error) {
			share = store.Share{Index: max(share.Index, 0), Of: max(share.Of, share.Index+1, 1)}
			return f.Shards.BeginShard(ctx, job, number, share)
		}
	}},
}
