// This file tests checkpoints of which each server writes a share: all or nothing counts, whoever dies in between.

package driver_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// meter counts the parts that are read through it, but for lists of shares.
type meter struct {
	*storetest.MemStore
	read atomic.Int64
}

func (m *meter) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	r, err := m.MemStore.Open(ctx, job, number)
	if err != nil {
		return nil, err
	}
	return metered{r, m}, nil
}

type metered struct {
	store.Reader
	meter *meter
}

func (r metered) Part(name string) (io.ReadCloser, error) {
	if name != "apportion-shards" {
		r.meter.read.Add(1)
	}
	return r.Reader.Part(name)
}

func (r metered) Range(name string, offset, bytes int64) (io.ReadCloser, error) {
	r.meter.read.Add(1)
	return r.Reader.Range(name, offset, bytes)
}

// sharded is a world in which every server saves its share.
func sharded(t *testing.T, test func(t *testing.T, w *world, master *meter)) {
	t.Helper()
	bubble(t, func(t *testing.T, w *world) {
		master := &meter{MemStore: w.store}
		for _, s := range w.servers {
			s.Server.Store = store.NewShards(w.store)
		}
		w.config.Store = store.NewShards(master)
		w.options.Sharded = func(string) bool { return true }
		w.options.VerifyOnServers = true
		test(t, w, master)
	})
}

func (w *world) trains(job string, steps int64, on ...string) checkpoint.Confirmed {
	w.t.Helper()
	for _, server := range on[1:] {
		w.servers[server].Work(steps)
	}
	saved := w.saves(job, steps, on[0])
	return saved.Job.Newest()
}

// wantShares demands that a checkpoint has a part of each server and of nobody else.
func (w *world) wantShares(number int64, servers ...string) {
	w.t.Helper()
	r := must.Have(w.config.Store.Open(context.Background(), "lr", number))(w.t)
	defer r.Close()
	var parts []string
	for _, p := range r.Manifest().Parts {
		parts = append(parts, strings.TrimPrefix(p.Name, "step-"))
	}
	must.Same(w.t, parts, servers, "checkpoint", number, "has the shares of")
}

func (w *world) shareThere(shard string, number int64) bool {
	r, err := w.store.Open(context.Background(), shard+"/lr", number)
	if err == nil {
		err = r.Close()
	}
	return err == nil
}

// Each server saves its share, the master joins them and reads none, and the job is resized with them.
func TestShares(t *testing.T) {
	sharded(t, func(t *testing.T, w *world, master *meter) {
		w.open()
		w.runs("lr", "s1", "s2", "s3")
		first := w.trains("lr", 10, "s1", "s2", "s3")
		must.Equal(t, first.Step, 10, first)
		w.wantShares(first.Number, "s1", "s2", "s3")
		for _, id := range []string{"s1", "s2", "s3"} {
			w.servers[id].Work(5)
		}
		w.must(adjust("lr", "s1", "s2"))
		resized := w.await("lr", on("s1", "s2"))
		moved := resized.Job.Newest()
		w.wantShares(moved.Number, "s1", "s2", "s3")
		second := w.trains("lr", 5, "s1", "s2")
		if moved.Step != 15 || second.Step != 20 {
			t.Errorf("%+v, and then %+v", moved, second)
		}
		w.wantShares(second.Number, "s1", "s2")
		must.Equal(t, master.read.Load(), 0, "the master has read", "parts")
		w.close()
	})
}

// A server dies between its part and the manifest: the save has never been, and the job goes on from the one before. What is
// left of the save goes when its number is not needed any more.
func TestServerDiesBeforeJoin(t *testing.T) {
	sharded(t, func(t *testing.T, w *world, _ *meter) {
		w.open()
		w.runs("lr", "s1", "s2", "s3")
		confirmed := w.trains("lr", 10, "s1", "s2", "s3")
		var lost atomic.Int64
		dies := w.servers["s2"]
		dies.mu.Lock()
		dies.after = func(o agent.Order) error {
			if o.Effect.Action != checkpoint.Save {
				return nil
			}
			lost.CompareAndSwap(0, o.Effect.Checkpoint)
			dies.set(nil, errors.New("no route to host"))
			return errors.New("no route to host")
		}
		dies.mu.Unlock()
		for _, id := range []string{"s1", "s2", "s3"} {
			w.servers[id].Work(7)
		}
		w.must(checkpoint.Checkpoint{Job: "lr"})
		j := w.await("lr", func(j *driver.JobState) bool { return on("s1", "s3")(j) && j.Progress.Step == confirmed.Step })
		must.Equal(t, j.Job.Newest(), confirmed, "it goes on with")
		for _, shard := range []string{"apportion-shard-0", "apportion-shard-1", "apportion-shard-2"} {
			if !w.shareThere(shard, lost.Load()) {
				t.Errorf("%s of the lost save was never there", shard)
			}
		}
		list, err := w.config.Store.List(context.Background(), "lr")
		if err != nil || len(list) != 1 || list[0].Number != confirmed.Number {
			t.Errorf("visible: %+v, %v", list, err)
		}
		for step := int64(15); step <= 30; step += 5 {
			if newest := w.trains("lr", 5, "s1", "s3"); newest.Step != step {
				t.Errorf("%+v, want step %d", newest, step)
			}
		}
		w.close()
		for _, shard := range []string{"apportion-shard-0", "apportion-shard-1", "apportion-shard-2"} {
			if w.shareThere(shard, lost.Load()) {
				t.Errorf("%s of the lost save is still there", shard)
			}
		}
	})
}

// The master dies between the parts and the manifest. The next one saves anew.
func TestMasterDiesBeforeJoin(t *testing.T) {
	sharded(t, func(t *testing.T, w *world, master *meter) {
		hangs := &hanging{Sharded: store.NewShards(master)}
		w.config.Store = hangs
		w.open()
		w.runs("lr", "s1", "s2")
		confirmed := w.trains("lr", 10, "s1", "s2")
		hangs.joins.Store(true)
		w.servers["s1"].Work(5)
		w.servers["s2"].Work(5)
		w.must(checkpoint.Checkpoint{Job: "lr"})
		saving := w.await("lr", func(j *driver.JobState) bool {
			return j.Job.Phase == checkpoint.Saving && w.shareThere("apportion-shard-1", j.Job.Saving.Number)
		})
		w.close()
		hangs.joins.Store(false)
		w.servers["s1"].Work(1) // so the shares of the number that was being saved cannot be saved again
		w.servers["s2"].Work(1)
		w.open()
		j := w.await("lr", func(j *driver.JobState) bool { return on("s1", "s2")(j) && j.Job.Newest() != confirmed })
		if j.Job.Newest().Step != 16 || j.Job.Attempt != saving.Job.Attempt {
			t.Errorf("%+v", j.Job)
		}
		w.wantShares(j.Job.Newest().Number, "s1", "s2")
		w.close()
	})
}

// hanging is a store whose joins hang while it is said so.
type hanging struct {
	store.Sharded
	joins atomic.Bool
}

func (h *hanging) Join(ctx context.Context, job string, number int64, of int) (store.Manifest, error) {
	if h.joins.Load() {
		<-ctx.Done()
		return store.Manifest{}, ctx.Err()
	}
	return h.Sharded.Join(ctx, job, number, of)
}

// Shares of two moments are no state of a job, and count for nothing.
func TestSharesOfTwoSteps(t *testing.T) {
	sharded(t, func(t *testing.T, w *world, _ *meter) {
		w.open()
		w.runs("lr", "s1", "s2")
		confirmed := w.trains("lr", 10, "s1", "s2")
		w.servers["s2"].Work(1)
		w.must(checkpoint.Checkpoint{Job: "lr"})
		j := w.await("lr", func(j *driver.JobState) bool {
			return j.Job.Reason.Constraint == string(checkpoint.Save) && j.Job.Phase == checkpoint.Running
		})
		if text := j.Job.Reason.Text; j.Job.Newest() != confirmed || !strings.Contains(text, "step 10") || !strings.Contains(text, "step 11") {
			t.Errorf("%+v", j.Job)
		}
		w.close()
	})
}

// Jobs that have ended leave no share behind.
func TestSharesOfEndedJobs(t *testing.T) {
	sharded(t, func(t *testing.T, w *world, _ *meter) {
		w.options.Retain = lease
		w.open()
		w.runs("lr", "s1", "s2")
		number := w.trains("lr", 10, "s1", "s2").Number
		w.servers["s2"].Work(1) // the last save fails
		w.must(checkpoint.Checkpoint{Job: "lr"})
		saving := w.await("lr", func(j *driver.JobState) bool { return j.Job.Saving.Number > number })
		failed := saving.Job.Saving.Number
		w.await("lr", func(j *driver.JobState) bool {
			return j.Job.Reason.Constraint == string(checkpoint.Save) && j.Job.Phase == checkpoint.Running
		})
		w.must(checkpoint.Cancel{Job: "lr"})
		ctx, cancel := context.WithTimeout(context.Background(), 100*lease)
		defer cancel()
		must.Have(w.d.Await(ctx, func(s *driver.State) bool { _, ok := s.Job("lr"); return !ok }))(t)
		for _, n := range []int64{number, failed} {
			if w.shareThere("apportion-shard-0", n) || w.shareThere("apportion-shard-1", n) {
				t.Errorf("shares of %d are left", n)
			}
		}
		w.close()
	})
}

// A driver whose store takes whole checkpoints only says so before it begins.
func TestSharesNeedAStore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.options.Sharded = func(string) bool { return true }
		if err := w.start(); !errors.Is(err, apportion.ErrConflict) || !strings.Contains(err.Error(), "Sharded") {
			t.Errorf("%v", err)
		}
	})
}
