package event

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded"
)

// played is what a stream of events came to.
type played struct {
	alone, elsewhere, changed   int
	objective, gap, worst, loss float64
	slowest                     time.Duration
}

// playEvents plays events on a fresh cluster of a family that a solver has filled; an event that is not decided by itself is left out.
func playEvents(t *testing.T, family alloctest.Family, servers, apps, events int) (p played) {
	inst, weights := family.Draw(1, servers, apps, false)
	s, err := embedded.New(&embedded.Options{Effort: embedded.Quick}).Solve(context.Background(), inst)
	if err != nil {
		t.Fatal(err)
	}
	c := New(len(inst.Total), servers, Rule{Theta1: inst.LossBudget / float64(2*len(inst.Total)), Theta2: .1, Printed: true, Ceil16: true, Restart: 1. / 8})
	for _, capacity := range inst.Capacity {
		c.AddServer(capacity, false)
	}
	var pool []App
	var in []int
	for a := range inst.Apps {
		app := &inst.Apps[a]
		pool = append(pool, App{Demand: app.Demand, Weight: weights[a], Min: app.Min, Max: app.Max, Cost: 1})
		in = append(in, c.AddApp(pool[a], 0))
		for _, p := range s.Counts[a] {
			c.Put(in[a], p.Server, p.Count)
		}
	}
	c.Commit()
	r := rand.New(rand.NewPCG(1, 5))
	for range events {
		c.Begin()
		then := func() {}
		switch n := r.IntN(100); {
		case n < 47:
			i := c.Arrive(pool[r.IntN(len(pool))], 0)
			then = func() { in = append(in, i) }
		case n < 94:
			at := r.IntN(len(in))
			c.End(in[at])
			then = func() { in[at], in = in[len(in)-1], in[:len(in)-1] }
		case n < 97:
			if j := r.IntN(servers); !c.servers[j].gone {
				c.Lose(j)
			}
		default:
			if j := r.IntN(servers); !c.servers[j].gone {
				c.Drain(j)
			}
		}
		began := time.Now()
		result, _, err := c.Decide(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if result == nil {
			p.elsewhere++
			continue
		}
		p.slowest = max(p.slowest, time.Since(began))
		p.alone++
		p.changed += len(result.Changed)
		p.objective, p.gap, p.worst = p.objective+result.Objective, p.gap+result.Gap, max(p.worst, result.Gap)
		p.loss += result.Loss / result.LossBudget
		c.Commit()
		then()
	}
	return p
}

// Nearly all events on the paper's cluster are decided by themselves, and most on mixed ones; the lines are what each number of the package is
// worth, by internal/tools/ablate.
func TestStream(t *testing.T) {
	for _, of := range []struct{ family, servers, apps, events int }{{0, 400, 200, 500}, {1, 60, 40, 120}} {
		p := playEvents(t, alloctest.Families()[of.family], of.servers, of.apps, of.events)
		n := float64(p.alone)
		t.Logf("stream %s: %d alone, %d elsewhere, changed %.2f, objective %.5f, gap %.3f %%, worst %.3f %%, %.3f of the loss", alloctest.Families()[of.family].Name,
			p.alone, p.elsewhere, float64(p.changed)/n, p.objective/n, 100*p.gap/n, 100*p.worst, p.loss/n)
		if p.alone < of.events/2 {
			t.Errorf("%d of %d events were decided by themselves", p.alone, of.events)
		}
	}
}
