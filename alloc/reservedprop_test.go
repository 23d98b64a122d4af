// This file compares what decisions let past a reservation with twins that try everything, [Program §8], points 4 to 6.

package alloc

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/oracle/queueoracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// reservedIn are the reservations of a decision as the twin has them.
func reservedIn(p *Problem, list []Reservation) (all []queueoracle.Reserved) {
	index := appIndex(p.Applications)
	for _, named := range list {
		v := queueoracle.Reserved{I: index[named.ID], At: math.Inf(1)}
		if named.At != nil {
			v.At = *named.At
		}
		for _, server := range p.Servers {
			if named.Servers != nil {
				v.Places = append(v.Places, named.Servers[server.ID])
			}
		}
		for _, id := range named.For {
			v.For = append(v.For, index[id])
		}
		all = append(all, v)
	}
	return all
}

// genReserved draws a problem with a gang that is due, and small ones behind it, some of which say when they end; some queues have a
// ceiling that is not much above what they use. Nothing is elastic, so that admission decides all.
func genReserved(t *rapid.T) *Problem {
	p := genTeams(t, rapid.IntRange(1, 3).Draw(t, "servers"))
	p.Options.Preempt, p.Options.ReclaimLevel = false, false
	for n := range rapid.IntRange(2, 4).Draw(t, "more") {
		app := p.Applications[rapid.IntRange(0, len(p.Applications)-1).Draw(t, "like")]
		app.ID, app.Demand = fmt.Sprint("more", n), app.Demand.Clone()
		app.Demand[0], app.Passed, app.Min = 1, 0, rapid.Int64Range(1, 2).Draw(t, "few")
		if n == 0 {
			app.Min, app.Passed = rapid.Int64Range(2, 8).Draw(t, "gang"), 2
		}
		p.Applications = append(p.Applications, app)
	}
	for i := range p.Applications {
		app := &p.Applications[i]
		if has := p.Previous.Containers(app.ID); has > 0 {
			app.Min = has
		}
		if app.Max = app.Min; rapid.IntRange(0, 2).Draw(t, "ends") > 0 {
			at := float64(rapid.IntRange(0, 3).Draw(t, "at"))
			app.Ends = &at
		}
	}
	drawCeilings(t, p)
	two := int64(rapid.IntRange(1, 2).Draw(t, "reservations"))
	p.Options.Reservations = &two
	return p
}

// drawCeilings gives some queues a ceiling that is not much above what they use, and not below their guarantee.
func drawCeilings(t *rapid.T, p *Problem) {
	used := newDraft(resolve(p)).used
	for q := range p.Queues {
		if rapid.IntRange(0, 2).Draw(t, "ceiling") > 0 {
			continue
		}
		for k := range p.Kinds {
			p.Queues[q].Ceiling = append(p.Queues[q].Ceiling, used[q+1][k]+rapid.Int64Range(0, 4).Draw(t, "beyond its use"))
		}
		if guarantee := p.Queues[q].Guarantee; guarantee != nil && !guarantee.FitsIn([]int64(p.Queues[q].Ceiling)) {
			p.Queues[q].Ceiling = drf.Ceiling(nil)
		}
	}
}

// What is reserved is free of all that may not have it. Where decisions rest nothing waits that fits beside, or may break what is in its way;
// and nothing else makes a holder wait for more.
func TestPropReserved(t *testing.T) {
	held, broken := 0, 0
	rapidtest.Until(t, "too little was refused for a reservation, or has broken one", func() bool { return held >= 10 && broken >= 1 }, func(t *rapid.T) {
		// Few draws break a reservation, so that there are many.
		for range 20 {
			kept, gone := checkReservations(t)
			held, broken = held+kept, broken+gone
		}
	})
}

// checkReservations returns how many were refused for a reservation, and how many of these were broken.
func checkReservations(t *rapid.T) (held, broken int) {
	p := genReserved(t)
	// The small ones come once there is a reservation.
	late := p.Applications[len(p.Applications)-rapid.IntRange(1, 2).Draw(t, "late"):]
	p.Applications = p.Applications[:len(p.Applications)-len(late)]
	last := mustDecide(t, p)
	p.Applications = append(slices.Clip(p.Applications), late...)
	for n := 0; ; n++ {
		if n > len(p.Applications)+2 {
			t.Fatal("it does not come to rest")
		}
		before, previous := dueIn(p), p.Previous
		d := mustDecide(t, p)
		rest := cmp.Equal(previous, d.Allocation) && cmp.Equal(last.Reservations, d.Reservations)
		broken += checkBroken(t, p, before, last, d)
		last = d
		w := worldOf(p)
		list := reservedIn(p, d.Reservations)
		if !w.Kept(list) {
			t.Fatalf("%+v is not kept in %v", d.Reservations, d.Allocation)
		}
		if !rest {
			continue
		}
		for i := range w.Apps {
			if w.Apps[i].Places != nil || !w.FitsBeside(i, nil) {
				continue
			}
			if held++; w.FitsBeside(i, list) {
				t.Fatalf("%d waits, and fits beside %+v in %v", i, d.Reservations, d.Allocation)
			}
		}
		return held, broken
	}
}

// mustDecide takes a decision and carries it out.
func mustDecide(t *rapid.T, p *Problem) *Decision {
	d, err := Reallocate(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.HandOn(p)
	p.Settled, p.Previous = nil, d.Allocation
	return d
}

// dueIn is the world before a decision, with what is due.
func dueIn(p *Problem) *queueoracle.World {
	w, r := worldOf(p), resolve(p)
	for i := range p.Applications {
		if over := p.Applications[i].Passed - r.patience(i); over >= 0 && w.Apps[i].Places == nil && w.Empty(i) {
			w.Apps[i].Overdue = over
		}
	}
	return w
}

// checkBroken checks that a holder waits longer, or for more, only for one that may break its reservation, or that is due and within its
// guarantee, as the holder is not. It returns how many do.
func checkBroken(t *rapid.T, p *Problem, before *queueoracle.World, last, d *Decision) (broken int) {
	was, is := reservedIn(p, last.Reservations), reservedIn(p, d.Reservations)
	for _, v := range was {
		at := slices.IndexFunc(is, func(x queueoracle.Reserved) bool { return x.I == v.I })
		// What waits for a ceiling by now, which others are to leave that end in time, waited for servers before.
		if at < 0 || is[at].At < v.At || is[at].At == v.At && (!math.IsInf(v.At, 1) || len(is[at].For) <= len(v.For)) {
			continue
		}
		if !slices.ContainsFunc(p.Applications, func(app Application) bool {
			i := slices.IndexFunc(p.Applications, func(x Application) bool { return x.ID == app.ID })
			own := before.Apps[i].Overdue >= 0 && before.Within(i) && !before.Within(v.I)
			begins := before.Apps[i].Places == nil && d.Allocation.Containers(app.ID) > 0
			// What is due and within its guarantee reserves first as well.
			return begins && before.MayBreak(i, v.I) || own && (begins || slices.ContainsFunc(d.Reservations, func(x Reservation) bool { return x.ID == app.ID }))
		}) {
			t.Fatalf("%+v had %+v: %v in place of %v", is[at], v, d.Allocation, before.Apps)
		}
		broken++
	}
	return broken
}
