package alloc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/rapidtest"
)

// failing is a test, or one draw of a property.
type failing interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// merged returns what runs in next after an event: what ran, with what is otherwise.
func merged(next *alloc.Problem, e *alloc.Event) alloc.Allocation {
	all := alloc.Allocation{}
	for i := range next.Applications {
		id := next.Applications[i].ID
		places, changed := e.Allocation[id]
		if !changed {
			places = next.Previous[id]
		}
		if len(places) > 0 {
			all[id] = places
		}
	}
	return all
}

// instanceOf returns P2 of next, and what all in it have together.
func instanceOf(t failing, next *alloc.Problem, all alloc.Allocation) (*solver.Instance, solver.Counts) {
	inst, apps, err := next.Instance()
	if err != nil {
		t.Fatal(err)
	}
	at, cordoned := make(map[string]int), make(map[int]bool)
	for j, s := range next.Servers {
		at[s.ID], cordoned[j] = j, s.Cordoned
	}
	counts := make(solver.Counts, len(apps))
	for a, i := range apps {
		for id, n := range all[next.Applications[i].ID] {
			counts[a] = append(counts[a], apportion.Placement{Server: at[id], Count: n})
		}
		slices.SortFunc(counts[a], func(x, y apportion.Placement) int { return x.Server - y.Server })
		// What leaves a drained server is moved by a rule, and has no price.
		if slices.ContainsFunc(inst.Apps[a].Previous, func(p apportion.Placement) bool { return cordoned[p.Server] }) {
			inst.Apps[a].Displaced, inst.Apps[a].Stay = true, 0
		}
	}
	return inst, counts
}

// servedOf returns p without the applications that have nothing in all, and how many of them ran.
func servedOf(p *alloc.Problem, all alloc.Allocation) (in *alloc.Problem, suspended int) {
	rest := *p
	rest.Applications = slices.DeleteFunc(slices.Clone(p.Applications), func(a alloc.Application) bool {
		if all.Containers(a.ID) == 0 && len(p.Previous[a.ID]) > 0 {
			suspended++
		}
		return all.Containers(a.ID) == 0
	})
	return &rest, suspended
}

// agreed counts events and those that let in the same as the whole decision.
type agreed struct{ events, same int }

// checkGuarantees checks that an event has taken from no queue what it is guaranteed, and that nobody waits within a guarantee.
func checkGuarantees(t failing, next *alloc.Problem, all alloc.Allocation) {
	for _, q := range next.Queues {
		for k, g := range q.Guarantee {
			used, before, waits := int64(0), int64(0), int64(math.MaxInt64)
			for _, a := range next.Applications {
				if a.Queue == q.ID && all.Containers(a.ID) > 0 {
					used, before = used+all.Containers(a.ID)*a.Demand[k], before+next.Previous.Containers(a.ID)*a.Demand[k]
				}
				if least := max(1, a.Min); a.Queue == q.ID && all.Containers(a.ID) == 0 && a.Counts == nil && a.Step == 0 && len(next.Kinds) == 2 && a.Demand[1-k] == 0 {
					waits = min(waits, least*a.Demand[k])
				}
			}
			if used < min(g, before) || waits <= g-used {
				t.Fatalf("%s uses %d of kind %d, %d before, of %d guaranteed, and %d wait", q.ID, used, k, before, g, waits)
			}
		}
	}
}

// checkEvent has the whole referee look at an event that was decided by itself, computes its figures anew, and compares it with the whole decision.
func checkEvent(t failing, next *alloc.Problem, e *alloc.Event, whole *agreed) {
	all := merged(next, e)
	checkGuarantees(t, next, all)
	present, suspended := servedOf(next, all)
	inst, counts := instanceOf(t, present, all)
	if err := inst.Check(counts); err != nil {
		t.Fatalf("the whole referee: %v", err)
	}
	premiums := 0.0
	for i := range inst.Apps {
		premiums += inst.Apps[i].Stay
	}
	if want := inst.Objective(counts) - premiums; math.Abs(e.Objective-want) > solver.ObjectiveTolerance {
		t.Fatalf("objective %g is %g", e.Objective, want)
	}
	m, err := alloc.Measure(present, all)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(m.FairnessLoss-e.FairnessLoss) > solver.LossTolerance || e.LossBudget > inst.LossBudget+solver.LossTolerance || m.Adjusted+suspended != e.Adjusted || m.Forced+suspended != e.Forced ||
		m.AdjustCost != e.AdjustCost || m.AdjustBudget != e.AdjustBudget || m.ExtraServers != e.ExtraServers {
		t.Fatalf("figures %+v of %+v, loss budget %g", e, m, inst.LossBudget)
	}
	for k, u := range m.Utilization {
		if math.Abs(u-e.Utilization[k]) > solver.ObjectiveTolerance {
			t.Fatalf("utilization %v is %v", e.Utilization, m.Utilization)
		}
	}
	if diff := cmp.Diff(alloc.NewPlan(next, all).Steps, e.Plan); diff != "" {
		t.Fatalf("the plan (-of all +of the event):\n%s", diff)
	}
	if e.Gap > .01 || e.Bound < e.Objective {
		t.Fatalf("objective %g, bound %g, gap %g", e.Objective, e.Bound, e.Gap)
	}
	for _, w := range e.Waiting {
		if w.Reason.Constraint == "" || w.Reason.Text == "" || all.Containers(w.ID) > 0 {
			t.Fatalf("%+v waits", w)
		}
	}
	if whole == nil {
		return
	}
	d, err := alloc.Reallocate(context.Background(), next, embedded.New(&embedded.Options{Effort: embedded.Quick}))
	if err != nil {
		t.Fatal(err)
	}
	whole.events++
	if anew, _ := servedOf(next, d.Allocation); !slices.EqualFunc(anew.Applications, present.Applications, func(a, b alloc.Application) bool { return a.ID == b.ID }) {
		return
	}
	whole.same++
	// What the whole decision leaves on a drained server the event has taken off: its bound is about what may be there.
	if d.LeastLoss == nil && len(d.Staying) == 0 && d.Objective > e.Bound+solver.ObjectiveTolerance {
		t.Fatalf("the whole decision reaches %g, above the bound %g", d.Objective, e.Bound)
	}
}

// crowded makes most applications rigid and more than there is room for.
func crowded(r *rand.Rand, p *alloc.Problem) {
	for i := range p.Applications {
		a := &p.Applications[i]
		if a.Priority = r.Int64N(2); r.IntN(4) > 0 {
			a.Min = max(a.Min, a.Max/2)
			a.Max, a.Step, a.Counts = a.Min, 0, nil
		}
	}
}

// smallCluster draws a cluster with a few sorts of applications, which are small beside it.
func smallCluster(r *rand.Rand) *alloc.Problem {
	p := &alloc.Problem{Kinds: apportion.Kinds{"cpu", "gpu"}, Theta1: [...]float64{.1, .3, 1}[r.IntN(3)], Theta2: [...]float64{.1, .5, 1}[r.IntN(3)]}
	p.Options.NoCeil15, p.Options.NoCeil16 = r.IntN(4) == 0, r.IntN(4) == 0
	if cost := [...]float64{0, .02, .125}[r.IntN(3)]; cost < .125 {
		p.Options.RestartCost = &cost
	}
	p.Options.MinGain = float64(r.IntN(2))
	for j := range 12 + r.IntN(40) {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: [...]apportion.Resources{{8, 0}, {8, 1}, {16, 2}}[r.IntN(3)]})
	}
	var sorts []alloc.Application
	for range 1 + r.IntN(5) {
		a := alloc.Application{Weight: 1 + float64(r.IntN(3)), Form: alloc.Form{Demand: apportion.Resources{1 + r.Int64N(2), max(0, r.Int64N(4)-2)}, Min: 1 + r.Int64N(2), Max: 2 + r.Int64N(12)}}
		switch r.IntN(4) {
		case 0:
			a.Step = 2
			a.Max += a.Max % 2
		case 1:
			a.Counts = []int64{1, 2, 4, 8}
		}
		if r.IntN(3) == 0 {
			cost := r.Int64N(3)
			a.AdjustCost = &cost
		}
		sorts = append(sorts, a)
	}
	if r.IntN(3) == 0 {
		p.Queues = []drf.Queue{{ID: "q", Weight: 1}, {ID: "r", Weight: 2}, {ID: "s", Parent: "q", Weight: 3}}
	}
	for i := range len(p.Servers) {
		a := sorts[r.IntN(len(sorts))]
		a.ID = fmt.Sprint("a", i)
		if p.Queues != nil {
			a.Queue = [...]string{"", "r", "s"}[r.IntN(3)]
		}
		p.Applications = append(p.Applications, a)
	}
	return p
}

// maybeCrowded draws a small cluster, and whether it has twice as many applications as there is room for.
func maybeCrowded(r *rand.Rand) (p *alloc.Problem, crowd bool) {
	p = smallCluster(r)
	if crowd = r.IntN(2) == 0; crowd {
		crowded(r, p)
		p.Servers = p.Servers[:len(p.Servers)/2]
	}
	// A third to all of the cluster is guaranteed.
	if p.Queues != nil && r.IntN(3) > 0 {
		parts := 3 + r.Int64N(6)
		for _, q := range [...]int{1, 2} {
			p.Queues[q].Guarantee = make(apportion.Resources, len(p.Kinds))
			for _, s := range p.Servers {
				for k, has := range s.Capacity {
					p.Queues[q].Guarantee[k] += has
				}
			}
			for k := range p.Kinds {
				p.Queues[q].Guarantee[k] = p.Queues[q].Guarantee[k] * [...]int64{0, 2, 1}[q] / parts
			}
		}
	}
	if p.Queues != nil && r.IntN(2) == 0 {
		limit(r, p)
	}
	return p, crowd
}

// reached reports whether a queue has all that its ceiling allows of a kind.
func reached(p *alloc.Problem, all alloc.Allocation) bool {
	return slices.ContainsFunc(p.Queues, func(q drf.Queue) bool {
		for k, limit := range q.Ceiling {
			used := int64(0)
			for _, a := range p.Applications {
				if a.Queue == q.ID {
					used += all.Containers(a.ID) * a.Demand[k]
				}
			}
			if used > 0 && used == limit {
				return true
			}
		}
		return false
	})
}

// limit gives some queues ceilings, above what they are guaranteed, of some kinds, down to a fifth of the cluster.
func limit(r *rand.Rand, p *alloc.Problem) {
	for q := range p.Queues {
		if r.IntN(3) == 0 {
			continue
		}
		p.Queues[q].Ceiling = drf.Ceiling{drf.NoLimit, drf.NoLimit}
		for k := range p.Kinds {
			total := int64(0)
			for _, s := range p.Servers {
				total += s.Capacity[k]
			}
			if p.Queues[q].Ceiling[k] = total * (1 + r.Int64N(4)) / 5; r.IntN(3) == 0 {
				p.Queues[q].Ceiling[k] = drf.NoLimit
			} else if p.Queues[q].Guarantee != nil {
				p.Queues[q].Ceiling[k] = max(p.Queues[q].Ceiling[k], p.Queues[q].Guarantee[k])
			}
		}
	}
}

// changes draws one event, or two at once.
func (d *eventDay) changes(r *rand.Rand, p *alloc.Problem) []alloc.Change {
	changes := []alloc.Change{d.event()}
	switch r.IntN(6) {
	case 0:
		changes = append(changes, d.event())
	case 1:
		// One that has just ended is no more.
		if o := otherwise(r, p); o.Update == nil || changes[0].End == nil || *changes[0].End != o.Update.ID {
			changes = append(changes, o)
		}
	}
	return changes
}

// checkRefusal checks that changes of which one names nobody change nothing.
func checkRefusal(t *rapid.T, d *alloc.Decider, before alloc.Snapshot, changes []alloc.Change) {
	bad := "nobody"
	if _, err := d.Apply(context.Background(), append(slices.Clone(changes), alloc.Change{End: &bad})...); !errors.Is(err, apportion.ErrUnknown) {
		t.Fatalf("an unknown application: %v", err)
	}
	if diff := cmp.Diff(before, d.Snapshot()); diff != "" {
		t.Fatalf("a change that was refused: %s", diff)
	}
}

// A stream of changes through a Decider is, at each event, a solution of the whole program, with the figures of that, within its gap of a bound that holds;
// a Decider restored in the middle goes on alike; a change that does not fit changes nothing.
func TestPropEvents(t *testing.T) {
	alone, guaranteed, full, whole, with := 0, 0, 0, make(map[string]int), agreed{}
	rapidtest.Until(t, "no event was decided by itself, or none beside a guarantee while others wait, or at a ceiling", func() bool { return alone > 0 && guaranteed > 0 && full > 0 }, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		p, crowd := maybeCrowded(r)
		d := &alloc.Decider{Effort: embedded.Quick}
		if _, err := d.Reallocate(context.Background(), p); err != nil {
			t.Fatal(err)
		}
		stream, other := newDay(r.Uint64(), p), (*alloc.Decider)(nil)
		for n := range 8 {
			before := d.Snapshot()
			changes := stream.changes(r, before.Problem)
			next, err := before.Problem.After(changes, "")
			if err != nil {
				// A server that is lost joins again by the next event.
				for n := range changes {
					if _, err := d.Apply(context.Background(), changes[n]); err != nil {
						t.Fatal(err)
					}
				}
				other = nil
				continue
			}
			checkRefusal(t, d, before, changes)
			e, err := d.Apply(context.Background(), changes...)
			if err != nil {
				t.Fatal(err)
			}
			after := d.Snapshot()
			if diff := cmp.Diff([]any{next.Servers, withoutPassed(next.Applications), merged(next, e)}, []any{after.Problem.Servers, withoutPassed(after.Problem.Applications), after.Problem.Previous}); diff != "" && e.Whole == "" {
				t.Fatal(diff)
			}
			if e.Whole != "" {
				whole[e.Whole]++
				if _, err := alloc.Verify(e.Problem, e.Decision); err != nil {
					t.Fatal(err)
				}
				other = nil
				continue
			}
			alone++
			if len(after.Problem.Previous) < len(after.Problem.Applications) && slices.ContainsFunc(p.Queues, func(q drf.Queue) bool { return q.Guarantee != nil }) {
				guaranteed++
			}
			if reached(next, merged(next, e)) {
				full++
			}
			if crowd || n%4 == 0 {
				checkEvent(t, next, e, &with)
			} else {
				checkEvent(t, next, e, nil)
			}
			if other != nil {
				got, err := other.Apply(context.Background(), changes...)
				if diff := cmp.Diff(e, got); err != nil || diff != "" {
					t.Fatalf("restored: %v %s", err, diff)
				}
			} else if r.IntN(2) == 0 {
				other = restored(t, after)
			}
		}
	})
	t.Log(alone, "events decided by themselves,", guaranteed, "of them beside a guarantee while others wait and", full, "at a ceiling, and as a whole:", whole)
	t.Log("the same are let in by", with.same, "of", with.events)
	if with.same < with.events-2-with.events/15 {
		t.Errorf("%d of %d events let in the same as the whole decision", with.same, with.events)
	}
}

// otherwise draws an application or a setting that is otherwise.
func otherwise(r *rand.Rand, p *alloc.Problem) alloc.Change {
	if r.IntN(3) == 0 {
		theta := r.Float64()
		return alloc.Change{Set: &alloc.Settings{Theta1: &theta}}
	}
	a := p.Applications[r.IntN(len(p.Applications))]
	switch a.Counts, a.Step = nil, 0; r.IntN(3) {
	case 0:
		a.Weight++
	case 1:
		a.Min = 1 + r.Int64N(a.Max)
	default:
		a.Min, a.Max = 1, 1+r.Int64N(4)
	}
	return alloc.Change{Update: &a}
}

func withoutPassed(apps []alloc.Application) []alloc.Application {
	apps = slices.Clone(apps)
	for i := range apps {
		apps[i].Passed = 0
	}
	return apps
}

// restored returns a Decider that was restored from what s is in JSON.
func restored(t failing, s alloc.Snapshot) *alloc.Decider {
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var read alloc.Snapshot
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	d := &alloc.Decider{Effort: embedded.Quick}
	if err := d.Restore(read); err != nil {
		t.Fatal(err)
	}
	return d
}

// On the paper's cluster nearly all events are decided by themselves.
func TestEventsOfPaper(t *testing.T) {
	p := clusterOf(400, 200)
	var d alloc.Decider
	decideBy(t, &d, p)
	stream, alone := newDay(3, p), 0
	const events = 40
	for range events {
		c := stream.event()
		next, err := d.Snapshot().Problem.After([]alloc.Change{c}, "")
		if err != nil {
			t.Fatal(err)
		}
		e, err := d.Apply(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		if e.Whole == "" {
			alone++
			checkEvent(t, next, e, nil)
		}
	}
	if alone < events/2 {
		t.Errorf("%d of %d events were decided by themselves", alone, events)
	}
}

// A context that ends inside an event leaves the last state, and says so.
func TestEventInterrupted(t *testing.T) {
	p := clusterOf(40, 20)
	var d alloc.Decider
	decideBy(t, &d, p)
	before := d.Snapshot()
	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	cancel(enough)
	a := p.Applications[0]
	a.ID = "new"
	if e, err := d.Apply(ctx, alloc.Change{Arrive: &a}); !errors.Is(err, enough) || e != nil {
		t.Errorf("%v, %v", e, err)
	}
	if diff := cmp.Diff(before, d.Snapshot()); diff != "" {
		t.Error(diff)
	}
	if e, err := d.Apply(context.Background(), alloc.Change{Arrive: &a}); err != nil || e.Allocation.Containers("new") == 0 {
		t.Errorf("%+v, %v", e, err)
	}
}

// What does not fit is refused with a name and a field, and changes nothing.
func TestEventRefused(t *testing.T) {
	if _, err := new(alloc.Decider).Apply(context.Background()); !errors.Is(err, alloc.ErrUndecided) {
		t.Errorf("before the first decision: %v", err)
	}
	p := clusterOf(40, 20)
	var d alloc.Decider
	decideBy(t, &d, p)
	before := d.Snapshot()
	name, twice, bad := "nobody", p.Applications[0], alloc.Application{ID: "bad", Weight: 1}
	join := p.Servers[0]
	for _, c := range []struct {
		changes []alloc.Change
		want    error
		says    string
	}{
		{[]alloc.Change{{End: &name}}, apportion.ErrUnknown, `application "nobody": changes[0].end`},
		{[]alloc.Change{{Update: &bad}}, apportion.ErrUnknown, `application "bad": changes[0].update`},
		{[]alloc.Change{{Lose: &name}}, apportion.ErrUnknown, `server "nobody": changes[0].lose`},
		{[]alloc.Change{{Cordon: &name}}, apportion.ErrUnknown, "changes[0].cordon"},
		{[]alloc.Change{{Uncordon: &name}}, apportion.ErrUnknown, "changes[0].uncordon"},
		{[]alloc.Change{{}}, apportion.ErrConflict, "changes[0]"},
		{[]alloc.Change{{End: &name, Lose: &name}}, apportion.ErrConflict, "changes[0]"},
		{[]alloc.Change{{Arrive: &twice}}, apportion.ErrDuplicate, twice.ID},
		{[]alloc.Change{{Arrive: &bad}}, apportion.ErrLength, "bad"},
		{[]alloc.Change{{Join: &join}}, apportion.ErrDuplicate, join.ID},
		{[]alloc.Change{{Lose: &join.ID}, {Join: &join}}, apportion.ErrConflict, "changes[1].join"},
		{[]alloc.Change{{Arrive: &bad}, {End: &name}}, apportion.ErrUnknown, "changes[1].end"},
	} {
		if _, err := d.Apply(context.Background(), c.changes...); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %v with %s", err, c.want, c.says)
		}
		if diff := cmp.Diff(before, d.Snapshot()); diff != "" {
			t.Fatalf("%s: %s", c.says, diff)
		}
	}
}

// What is gone is unknown, and may come again by its name.
func TestEventNamesAgain(t *testing.T) {
	p := clusterOf(40, 20)
	var d alloc.Decider
	decideBy(t, &d, p)
	a, s := p.Applications[0], p.Servers[0]
	for _, c := range []struct {
		change alloc.Change
		want   error
	}{
		{alloc.Change{End: &a.ID}, nil}, {alloc.Change{End: &a.ID}, apportion.ErrUnknown}, {alloc.Change{Arrive: &a}, nil}, {alloc.Change{Arrive: &a}, apportion.ErrDuplicate},
		{alloc.Change{Lose: &s.ID}, nil}, {alloc.Change{Lose: &s.ID}, apportion.ErrUnknown}, {alloc.Change{Cordon: &s.ID}, apportion.ErrUnknown},
		{alloc.Change{Join: &s}, nil}, {alloc.Change{Join: &s}, apportion.ErrDuplicate}, {alloc.Change{Uncordon: &s.ID}, nil},
	} {
		if _, err := d.Apply(t.Context(), c.change); !errors.Is(err, c.want) {
			t.Fatalf("%+v: %v, want %v", c.change, err, c.want)
		}
	}
}

// What an event does not know is decided as a whole, and the answer says why.
func TestEventElsewhere(t *testing.T) {
	two, part := int64(2), 0.1
	for says, change := range map[string]func(p *alloc.Problem){
		"paper's rule": func(p *alloc.Problem) { p.Options.Paper = true },
		"another rule": func(p *alloc.Problem) { p.Options.Share = alloc.WholeDRF },
		"in worth":     func(p *alloc.Problem) { p.Options.Loss = alloc.LossInWorth },
		"labels": func(p *alloc.Problem) {
			p.Applications[1].Requires = []apportion.Requirement{{Key: "x", Op: apportion.NotExists}}
		},
		"domains":         func(p *alloc.Problem) { p.Topology = []string{"rack"}; p.Applications[1].Prefer = "rack" },
		"compact":         func(p *alloc.Problem) { p.Compact, p.Options.Worth = []string{"gpu"}, alloc.WorthOfAllKinds },
		"beyond":          func(p *alloc.Problem) { p.Applications[1].SpreadCost = &part },
		"first growth":    func(p *alloc.Problem) { p.Applications[1].Most = 2 },
		"limit by server": func(p *alloc.Problem) { p.Applications[1].PerServer = 9 },
		"pinned":          func(p *alloc.Problem) { p.Applications[1].Pinned = true },
		"a worth":         func(p *alloc.Problem) { p.Applications[1].StayWorth = new(float64) },
		"cost":            func(p *alloc.Problem) { two = 1 << 40; p.Applications[1].AdjustCost = &two },
		"level": func(p *alloc.Problem) {
			p.Options.ReclaimLevel, p.Queues = true, []drf.Queue{{ID: "q", Weight: 1}}
		},
		"guaranteed": func(p *alloc.Problem) {
			p.Queues = []drf.Queue{{ID: "q", Weight: 1, Guarantee: apportion.Resources{1 << 30, 1 << 30, 1 << 30}}}
		},
	} {
		p := clusterOf(12, 6)
		change(p)
		d := alloc.Decider{Effort: embedded.Quick}
		decideBy(t, &d, p)
		next := d.Snapshot().Problem
		e, err := d.Apply(context.Background(), alloc.Change{End: &p.Applications[0].ID})
		if err != nil || !strings.Contains(e.Whole, says) || e.Decision == nil {
			t.Fatalf("%s: %+v, %v", says, e, err)
		}
		want, err := next.After([]alloc.Change{{End: &p.Applications[0].ID}}, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := merged(want, e); !maps.EqualFunc(got, e.Decision.Allocation, func(a, b map[string]int64) bool { return maps.Equal(a, b) }) {
			t.Errorf("%s: changes lead to %v, the decision to %v", says, got, e.Decision.Allocation)
		}
	}
}

// Events ask those that wait by guarantee, level and priority, and keep what is reserved for its holder, which is asked first.
func TestEventsAskInOrder(t *testing.T) {
	rigid := func(id string, demand, n, priority int64) alloc.Application {
		return alloc.Application{ID: id, Weight: 1, Priority: priority, Form: alloc.Form{Demand: apportion.Resources{demand}, Min: n, Max: n}}
	}
	due := rigid("gang", 8, 2, 0)
	due.Passed = 10
	of := func(queue string, a alloc.Application) alloc.Application { a.Queue = queue; return a }
	queues := []drf.Queue{{ID: "q", Weight: 1}, {ID: "r", Weight: 1}}
	guaranteed := []drf.Queue{{ID: "q", Weight: 1}, {ID: "r", Weight: 1, Guarantee: apportion.Resources{16}}}
	for says, c := range map[string]struct {
		queues  []drf.Queue
		of      [2]string // the queues of a0 and a1
		waiting []alloc.Application
		want    [2]string // let in when a0 ends, and then a1
	}{
		"priority":    {nil, [2]string{}, []alloc.Application{rigid("low", 8, 1, 0), rigid("high", 8, 1, 1)}, [2]string{"high", "low"}},
		"reservation": {nil, [2]string{}, []alloc.Application{rigid("small", 4, 1, 0), due}, [2]string{"", "gang"}},
		"level":       {queues, [2]string{"q", "q"}, []alloc.Application{of("q", rigid("x", 8, 1, 0)), of("r", rigid("y", 8, 1, 0))}, [2]string{"y", "x"}},
		"guarantee":   {guaranteed, [2]string{"q", "r"}, []alloc.Application{of("q", rigid("x", 8, 1, 0)), of("r", rigid("y", 8, 1, 0))}, [2]string{"y", "x"}},
	} {
		p := &alloc.Problem{Kinds: apportion.Kinds{"cpu"}, Theta1: 1, Theta2: 1, Queues: c.queues, Servers: []apportion.Server{{ID: "s0", Capacity: apportion.Resources{8}}, {ID: "s1", Capacity: apportion.Resources{8}}},
			Applications: append([]alloc.Application{of(c.of[0], rigid("a0", 8, 1, 0)), of(c.of[1], rigid("a1", 8, 1, 0))}, c.waiting...), Previous: alloc.Allocation{"a0": {"s0": 1}, "a1": {"s1": 1}}}
		var d alloc.Decider
		decideBy(t, &d, p)
		for n, want := range c.want {
			id := fmt.Sprint("a", n)
			e, err := d.Apply(context.Background(), alloc.Change{End: &id})
			if err != nil || e.Whole != "" || len(e.Allocation) > 1 || (want == "") != (len(e.Allocation) == 0) || want != "" && e.Allocation.Containers(want) == 0 {
				t.Errorf("%s: %s ends: %+v, %v", says, id, e, err)
			}
		}
	}
}

// One that finds its queue at the ceiling waits for that, though servers have room, until another one below it ends.
func TestEventsBelowCeilings(t *testing.T) {
	rigid := func(id, queue string, n int64) *alloc.Application {
		return &alloc.Application{ID: id, Queue: queue, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: n, Max: n}}
	}
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1, Queues: []drf.Queue{{ID: "top", Weight: 1, Ceiling: drf.Ceiling{8}}, {ID: "q", Parent: "top", Weight: 1}, {ID: "r", Weight: 1}},
		Servers: []apportion.Server{{ID: "s0", Capacity: apportion.Resources{8}}, {ID: "s1", Capacity: apportion.Resources{8}}}, Applications: []alloc.Application{*rigid("a", "q", 6)}}
	var d alloc.Decider
	decideBy(t, &d, p)
	a := "a"
	for _, c := range []struct {
		change  alloc.Change
		in      string
		waiting string
		whole   string
	}{
		{alloc.Change{Arrive: rigid("b", "q", 4)}, "", `queue "top" may have 8 gpu together, of which 2 are left, and it needs 4`, ""},
		{alloc.Change{Arrive: rigid("c", "r", 8)}, "c", "", ""},
		{alloc.Change{End: &a}, "b", "", ""},
		{alloc.Change{Arrive: rigid("d", "q", 9)}, "", "", "does not fit the empty cluster"},
	} {
		e, err := d.Apply(t.Context(), c.change)
		if err != nil || (c.whole == "") != (e.Whole == "") || !strings.Contains(e.Whole, c.whole) || (c.in != "") != (len(e.Allocation) > 0) || c.in != "" && e.Allocation.Containers(c.in) == 0 ||
			(c.waiting != "") != (len(e.Waiting) > 0) || c.waiting != "" && e.Waiting[0].Reason.Text != c.waiting {
			t.Errorf("%+v: %+v, %v", c, e, err)
		}
	}
}

// Where a queue may not have what it is guaranteed the whole cluster is decided.
func TestEventsOweGuarantees(t *testing.T) {
	app := func(queue, id string, least, most int64) alloc.Application {
		return alloc.Application{ID: id, Queue: queue, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: least, Max: most}}
	}
	small, lost := "small", "s0"
	for says, c := range map[string]struct {
		rest   int64 // GPUs of a third server
		apps   []alloc.Application
		before alloc.Allocation
		change alloc.Change
	}{
		"waits for what": {1, []alloc.Application{app("q", "a", 16, 16), app("q", small, 1, 1), app("r", "b", 8, 8)},
			alloc.Allocation{"a": {"s0": 8, "s1": 8}, small: {"s2": 1}}, alloc.Change{End: &small}},
		"lacks what": {800, []alloc.Application{app("r", "a", 2, 8), app("q", "b", 2, 808)},
			alloc.Allocation{"a": {"s0": 8}, "b": {"s1": 8, "s2": 800}}, alloc.Change{Lose: &lost}},
	} {
		p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1, Options: alloc.Options{RestartCost: new(float64)}, Queues: []drf.Queue{{ID: "q", Weight: 1}, {ID: "r", Weight: 1, Guarantee: apportion.Resources{8}}},
			Servers:      []apportion.Server{{ID: "s0", Capacity: apportion.Resources{8}}, {ID: "s1", Capacity: apportion.Resources{8}}, {ID: "s2", Capacity: apportion.Resources{c.rest}}},
			Applications: c.apps, Previous: c.before}
		var d alloc.Decider
		decideBy(t, &d, p)
		if e, err := d.Apply(t.Context(), c.change); err != nil || !strings.Contains(e.Whole, says) {
			t.Errorf("%s: %+v, %v", says, e, err)
		}
	}
}
