// This file compares for whom room is reserved, and what is counted as passed, with twins that try everything, [Program §8], points 1 and 2.

package alloc

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/oracle/queueoracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// Room is reserved for one of each leaf, and for no more than may be: those first that stay within their guarantees, then those that have it.
func TestPropHolders(t *testing.T) {
	several := 0
	rapidtest.Until(t, "there were seldom several", func() bool { return several > 10 }, func(t *rapid.T) {
		// Few draws have several that are due, so that there are many.
		for range 20 {
			if checkHolders(t) > 1 {
				several++
			}
		}
	})
}

// checkHolders returns for how many room is reserved.
func checkHolders(t *rapid.T) int {
	p := genTeams(t, 2)
	w := worldOf(p)
	drawDue(t, p, w)
	w.Most = rapid.IntRange(1, 3).Draw(t, "reservations")
	most := int64(w.Most)
	p.Options.Reservations = &most
	turn := newTurn(newDraft(resolve(p)))
	var got []int
	for len(got) < w.Most {
		i := turn.nextHolder()
		if i < 0 {
			break
		}
		turn.tried[i] = true
		turn.draft.reserved = append(turn.draft.reserved, &reserved{i: i})
		got = append(got, i)
	}
	if want := w.Chosen(); !slices.Equal(got, want) {
		t.Fatalf("room is reserved for %v, want %v", got, want)
	}
	return len(got)
}

// The first of each leaf that is refused for room is passed by all that are let in after it, and by nothing before it; who was let in, or could
// never be, has not been passed.
func TestPropPassed(t *testing.T) {
	passed := 0
	rapidtest.Until(t, "little was passed", func() bool { return passed > 10 }, func(t *rapid.T) {
		for range 5 {
			passed += checkPassed(t)
		}
	})
}

// checkPassed plays the order of a decision by the twin, and returns how many were passed in it.
func checkPassed(t *rapid.T) (passed int) {
	p := genReserved(t)
	p.Options.Reservations = nil
	w := dueIn(p)
	empty := *w
	empty.Apps = slices.Clone(w.Apps)
	for i := range empty.Apps {
		empty.Apps[i].Places = nil
	}
	for i := range w.Apps {
		if !empty.FitsBeside(i, nil) {
			w.Apps[i].Overdue = -1
		}
	}
	d, err := Reallocate(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	entered, first := 0.0, map[int]int{}
	then := map[int]float64{}
	for i := w.Next(); i >= 0; i = w.Next() {
		app, twin := &p.Applications[i], &w.Apps[i]
		twin.Places = make([]int64, len(p.Servers))
		if _, known := first[twin.Queue]; d.Allocation.Containers(app.ID) > 0 {
			for j, server := range p.Servers {
				twin.Places[j] = d.Allocation[app.ID][server.ID]
			}
			w.Holders = slices.DeleteFunc(slices.Clone(w.Holders), func(h int) bool { return h == i })
			entered += dominant(w, i)
		} else if !known && empty.FitsBeside(i, nil) {
			first[twin.Queue], then[i] = i, entered
		}
	}
	for _, waits := range d.Waiting {
		i := slices.IndexFunc(p.Applications, func(app Application) bool { return app.ID == waits.ID })
		want := p.Applications[i].Passed
		if at, is := then[i]; is && entered > at {
			want += entered - at
			passed++
		}
		if math.Abs(waits.Passed-want) > 1e-12 {
			t.Fatalf("%s is passed by %v, want %v", waits.ID, waits.Passed, want)
		}
	}
	return passed
}

// dominant is the largest part of the cluster that the fewest containers of application i take of a kind.
func dominant(w *queueoracle.World, i int) (part float64) {
	for k, d := range w.Apps[i].Demand {
		total := int64(0)
		for _, server := range w.Servers {
			total += server[k]
		}
		if total > 0 {
			part = max(part, float64(d*w.Apps[i].Least)/float64(total))
		}
	}
	return part
}
