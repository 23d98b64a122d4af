// This file takes room away from a server while a decision is on its way.

package controller_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
)

// A server has less for a moment, while a decision that needs it is on its way: the move is denied, and when the server has again what the
// decision was about it is asked for again.
func TestLessForAMoment(t *testing.T) {
	b := newBench(t)
	b.stop()
	var less atomic.Bool
	var missing int // the server that the job has nothing on
	room := func(has int64) {
		b.fake.change(func(v *controller.View) { v.Servers[missing].Capacity = apportion.Resources{has} })
		b.eventually("the machine knows", func() bool { return b.now().State().Servers[missing].Capacity[0] == has })
	}
	b.config.Decide = func(ctx context.Context, p *alloc.Problem) (*alloc.Decision, error) {
		d, err := alloc.Reallocate(ctx, p, nil)
		if less.CompareAndSwap(true, false) {
			room(1)
		}
		return d, err
	}
	b.config.Settle = time.Second // so that the moment is over before the next decision
	b.begin()
	b.submit(8, "a")
	b.holds(map[string]int{"a": 8})
	missing = slices.IndexFunc(b.now().State().Servers, func(s apportion.Server) bool { return !slices.Contains(b.job("a").Containers, s.ID) })
	less.Store(true)
	b.fake.change(func(v *controller.View) { v.Jobs[0].Application.Max = 12 })
	b.eventually("the move is denied", func() bool { return b.job("a").Reason.Constraint == checkpoint.NoRoom })
	room(4)
	b.holds(map[string]int{"a": 12})
}
