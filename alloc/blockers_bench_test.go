// This file measures what the reasons of a decision take beside the decision.

package alloc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded"
)

// fullHouse is a cluster on which jobs run that leave nothing, with as many newcomers as servers. With sorts 0 each is a sort of its own; where
// jobs are rigid nobody can give anything, so that a decision is cheap; every tenth server may be cordoned.
type fullHouse struct {
	servers, sorts  int
	rigid, cordoned bool
}

// problem draws one.
func (c fullHouse) problem() *Problem {
	r := rand.New(rand.NewPCG(7, 35))
	p := &Problem{Kinds: apportion.Kinds{"cpu", "gpu"}, Theta1: .5, Theta2: .1, Previous: Allocation{}}
	for j := range c.servers {
		id := fmt.Sprint("s", j)
		p.Servers = append(p.Servers, apportion.Server{ID: id, Capacity: apportion.Resources{96, 8}, Cordoned: c.cordoned && j%10 == 0})
		for n := range 2 {
			job := fmt.Sprint("r", j, ".", n)
			app := Application{ID: job, Weight: 1, Form: Form{Demand: apportion.Resources{4 + r.Int64N(8), 1}, Min: 2 + r.Int64N(2), Max: 4}}
			if c.rigid {
				app.Min = app.Max
			}
			p.Applications = append(p.Applications, app)
			p.Previous[job] = map[string]int64{id: 4}
		}
	}
	for i := range c.servers {
		sort := int64(i)
		if c.sorts > 0 {
			sort %= int64(c.sorts)
		}
		p.Applications = append(p.Applications, Application{ID: fmt.Sprint("n", i), Weight: 1,
			Form: Form{Demand: apportion.Resources{8 + sort%64, 1 + sort%7}, Min: 2 + sort/64, Max: 8 + sort/64}})
	}
	return p
}

// BenchmarkBlockers takes decisions at the least effort, and beside them the reasons of each alone: what the second takes is a part of the first.
func BenchmarkBlockers(b *testing.B) {
	for _, c := range []fullHouse{{100, 10, false, false}, {100, 0, false, false}, {100, 10, false, true}, {400, 10, true, false}, {400, 0, true, false}, {400, 10, true, true}} {
		p := c.problem()
		by := embedded.New(&embedded.Options{Effort: embedded.Quick})
		d, err := Reallocate(context.Background(), p, by)
		if err != nil {
			b.Fatal(err)
		}
		name := fmt.Sprintf("servers=%d/sorts=%d/rigid=%v/cordoned=%v/waiting=%d/staying=%d/", c.servers, c.sorts, c.rigid, c.cordoned, len(d.Waiting), len(d.Staying))
		b.Run(name+"decision", func(b *testing.B) {
			for b.Loop() {
				if _, err := Reallocate(context.Background(), p, by); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"reasons", func(b *testing.B) {
			r, a, _, err := rebuild(p, d, RecordVersion)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				r.empty = nil
				stop := newStopper(r, a)
				for o := range d.Shares {
					if d.Shares[o].Containers == 0 {
						stop.servers().leftOut(o, nil)
					}
				}
				r.staying(stop)
			}
		})
	}
}

// What is alike gives a newcomer the same, whichever of it is asked.
func TestAlikeGiveAlike(t *testing.T) {
	classes, asked := 0, 0
	for _, c := range []fullHouse{{30, 0, true, false}, {30, 0, false, false}} {
		p := c.problem()
		d, err := Reallocate(t.Context(), p, embedded.New(&embedded.Options{Effort: embedded.Quick}))
		if err != nil {
			t.Fatal(err)
		}
		r, a, _, err := rebuild(p, d, RecordVersion)
		if err != nil {
			t.Fatal(err)
		}
		v := newStopper(r, a).servers()
		for o := range d.Shares {
			if d.Shares[o].Containers > 0 {
				continue
			}
			v.reasons = map[string]apportion.Reason{} // each is asked
			v.leftOut(o, nil)
			n := max(1, v.draft.least(o))
			for at, rank := range v.ranks {
				shared := v.given[v.likes[at]]
				if own := v.gives(o, rank.w, v.tallyOf(o, nil, n)); shared >= 0 && shared != own {
					t.Errorf("%s gives %s room for %d, and those like it %d", p.Applications[rank.w].ID, p.Applications[o].ID, own, shared)
				}
				asked++
			}
			classes += len(v.given)
		}
	}
	if classes == 0 || 3*classes > 2*asked {
		t.Errorf("%d kinds of %d", classes, asked)
	}
}
