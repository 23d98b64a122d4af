// This file compares what is reserved with a twin that tries every set, and says what is refused of what a caller hands back,
// [Program §8].

package alloc

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/oracle/queueoracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// What is reserved is there as soon as anything can be; where every application is on one server it waits for as few as can be, and
// nothing of it is in vain.
func TestPropSoonest(t *testing.T) {
	rapidtest.Runs(t, 20, checkSoonest)
}

func checkSoonest(t *rapid.T) {
	servers := rapid.IntRange(1, 3).Draw(t, "servers")
	p := genTeams(t, servers)
	drawEnds(t, p)
	i := len(p.Applications) - 1
	p.Applications[i].MaxServers = rapid.Int64Range(0, 2).Draw(t, "on servers")
	w, r := worldOf(p), resolve(p)
	at, waits, ok := w.Soonest(i)
	d := newDraft(r)
	v := d.soonest(i, nil)
	if isSoonest(t, d, v, sooner{at, waits, ok}); !ok {
		return
	}
	// The places have room once those have ended, and not before.
	for _, w := range v.waits {
		had := d.remove(w)
		if len(v.waits) == 1 {
			d.put(w, had)
			if d.fits(i, v.servers) {
				t.Fatalf("%d is waited for in vain", w)
			}
			d.remove(w)
		}
	}
	if !d.fits(i, v.servers) || v.containers() != p.Applications[i].Min {
		t.Fatalf("%v has no room", v.servers)
	}
}

// In domains it is so too: all of it within one, and its slices each within one of theirs, on as few servers as are allowed.
func TestPropSoonestInDomains(t *testing.T) {
	several := 0
	rapidtest.Until(t, "slices were seldom reserved in several domains", func() bool { return several > 50 }, func(t *rapid.T) {
		for range 10 {
			if checkSoonestInDomains(t) > 1 {
				several++
			}
		}
	})
}

// checkSoonestInDomains returns in how many domains slices are reserved.
func checkSoonestInDomains(t *rapid.T) int {
	p := genTeams(t, rapid.IntRange(2, 5).Draw(t, "servers"))
	drawEnds(t, p)
	i := len(p.Applications) - 1
	app := &p.Applications[i]
	twin := drawDomains(t, p, app)
	w, r := worldOf(p), resolve(p)
	w.Apps[i].Within, w.Apps[i].Slices, w.Apps[i].Slice = twin.Within, twin.Slices, twin.Slice
	at, waits, ok := w.Soonest(i)
	d := newDraft(r)
	v := d.soonestInDomains(i, nil)
	if isSoonest(t, d, v, sooner{at, waits, ok}); !ok {
		return 0
	}
	for _, w := range v.waits {
		d.remove(w)
	}
	if fault := r.tornText(i, v.servers); fault != "" || !d.fits(i, v.servers) || v.containers() != app.Min || app.MaxServers > 0 && int64(len(v.servers)) > app.MaxServers {
		t.Fatalf("%v has no room, or %s", v.servers, fault)
	}
	if again := d.soonestInDomains(i, v); !slices.Equal(again.servers, v.servers) {
		t.Fatalf("%v goes to %v", v.servers, again.servers)
	}
	if app.Slices == nil {
		return 0
	}
	in, _ := r.domainsOf(r.wishes[i].SliceWithin, v.servers)
	return len(in)
}

// drawDomains labels servers, not all of them, and lets an application ask for their domains, which are as the twin has them.
func drawDomains(t *rapid.T, p *Problem, app *Application) (twin queueoracle.App) {
	p.Topology = []string{"zone", "rack"}
	domains := make([][]int, len(p.Topology))
	for j := range p.Servers {
		p.Servers[j].Labels = map[string]string{}
		at := 0
		for level, label := range p.Topology {
			n := rapid.IntRange(0, 5).Draw(t, label) - 1 // mostly in some
			if at = 2*at + max(0, n)%2 + 1; n < 0 && at >= 0 {
				at = -1
			}
			if domains[level] = append(domains[level], at); at < 0 {
				break
			}
			p.Servers[j].Labels[label] = fmt.Sprint(max(0, n) % 2)
		}
		for level := range domains {
			if len(domains[level]) <= j {
				domains[level] = append(domains[level], -1)
			}
		}
	}
	app.MaxServers = max(0, rapid.Int64Range(-2, 4).Draw(t, "on servers"))
	sliced := rapid.IntRange(-1, 1).Draw(t, "slices")
	if sliced >= 0 {
		twin.Slices, twin.Slice = domains[sliced], rapid.Int64Range(1, 3).Draw(t, "slice")
		app.Slices = &Slices{Containers: twin.Slice, Within: p.Topology[sliced]}
		app.Min = twin.Slice * rapid.Int64Range(1, 3).Draw(t, "number")
		app.Max = app.Min
	}
	if within := rapid.IntRange(-min(1, 1+sliced), 1).Draw(t, "within"); within >= 0 {
		app.Within, twin.Within = p.Topology[within], domains[within]
	}
	return twin
}

// drawEnds says of some applications when they end.
func drawEnds(t *rapid.T, p *Problem) {
	for i := range p.Applications {
		if rapid.Bool().Draw(t, "ends") {
			at := float64(rapid.IntRange(0, 3).Draw(t, "at"))
			p.Applications[i].Ends = &at
		}
	}
}

// Where a ceiling is in the way no servers are reserved: what is waited for has ended as soon as enough can have below the ceilings, and
// nothing is waited for in vain. Where none is there are servers.
func TestPropSoonestBelow(t *testing.T) {
	stopped := 0
	rapidtest.Until(t, "ceilings were seldom in the way", func() bool { return stopped > 5 }, func(t *rapid.T) {
		p := genTeams(t, rapid.IntRange(1, 3).Draw(t, "servers"))
		drawEnds(t, p)
		drawCeilings(t, p)
		i, w, r := len(p.Applications)-1, worldOf(p), resolve(p)
		// What the empty cluster cannot hold is never asked about.
		if !r.fits(i) {
			return
		}
		v := newDraft(r).soonest(i, nil)
		if w.BelowAfter(i, nil) {
			if v != nil && v.servers == nil {
				t.Fatalf("%+v, and no ceiling is in the way", v)
			}
			return
		}
		at, _, ok := w.SoonestBelow(i)
		if (v != nil) != ok || ok && (v.at != at || v.servers != nil || !w.BelowAfter(i, v.waits)) {
			t.Fatalf("%+v, want %v by %g", v, ok, at)
		}
		if !ok {
			return
		}
		stopped++
		for n, waited := range v.waits {
			if w.BelowAfter(i, slices.Delete(slices.Clone(v.waits), n, n+1)) {
				t.Fatalf("%d of %v is waited for in vain", waited, v.waits)
			}
		}
	})
}

// Slices are reserved in several domains: of racks of 18 one has 16, two by the end of one application each, and the
// last by that of two; 48 are 3 x 16.
func TestSlicesAreReserved(t *testing.T) {
	p := gpuProblem(18, 18, 18, 18)
	p.Topology, p.Theta1 = []string{"rack"}, 1
	for j := range p.Servers {
		p.Servers[j].Labels = map[string]string{"rack": fmt.Sprint(j)}
	}
	p.add(1, 3, 3, 3)
	p.add(1, 2, 2, 0, 0, 2)
	p.add(1, 9, 9, 0, 9)
	p.add(1, 8, 8, 0, 8)
	p.add(1, 3, 3, 0, 0, 0, 3)
	gang := p.add(1, 48, 48)
	gang.Passed, gang.Slices = 9, &Slices{Containers: 16, Within: "rack"}
	want := []Reservation{{ID: "a5", Servers: map[string]int64{"s0": 16, "s2": 16, "s3": 16}, For: []string{"a0", "a4"}}}
	d := mustReallocate(t, p)
	if diff := cmp.Diff(want, d.Reservations); diff != "" {
		t.Error(diff)
	}
	// What fits a reserved rack does not get it, and a decision that tears slices is refused.
	p.add(1, 6, 6)
	p.Previous = d.Allocation
	if d = mustReallocate(t, p); d.Allocation.Containers("a6") != 0 || len(d.Reservations) != 1 {
		t.Errorf("%v, %+v", d.Allocation, d.Reservations)
	}
	d.Reservations[0].Servers = map[string]int64{"s0": 17, "s2": 16, "s3": 15}
	if _, err := Verify(p, d); !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), "slices of 16") {
		t.Error(err)
	}
	p.Applications = append(p.Applications[1:4:4], p.Applications[5:]...)
	p.Reservations = want
	if d = mustReallocate(t, p); d.Allocation.Containers("a5") != 48 {
		t.Errorf("%v, %+v", d.Allocation, d.Waiting)
	}
}

// dueProblem is a server of 4 GPUs with two jobs of 2 on it, a gang of 4 that is due, and a job of 1.
func dueProblem() *Problem {
	p := gpuProblem(4, 2)
	p.Theta1, p.Theta2 = .1, .1
	p.add(1, 2, 2, 2, 0)
	p.add(1, 2, 2, 0, 2)
	p.add(1, 4, 4).Passed = 2
	p.add(1, 1, 1)
	return p
}

// Records of before version 6 are of a patience twice as long where they state none: what was let in past the gang is more than it needs, and
// less than twice that.
func TestOldPatience(t *testing.T) {
	p := dueProblem()
	p.Applications[2].Passed = .75
	stated, two := *p, 2.0
	stated.Options.Patience = &two
	d := mustReallocate(t, &stated)
	d.Settled = nil // it is of another question
	if len(d.Reservations) > 0 || len(mustReallocate(t, p).Reservations) != 1 {
		t.Fatal("the gang is due at 2, or not at 1")
	}
	old := &Record{Version: 5, Problem: p, Decision: d}
	if _, err := old.Verify(); err != nil {
		t.Error(err)
	}
	if found, err := old.Replay(t.Context(), nil); err != nil || len(found) > 0 {
		t.Error(found, err)
	}
	if found, err := (&Record{Version: RecordVersion, Problem: p, Decision: d}).Replay(t.Context(), nil); err == nil && len(found) == 0 {
		t.Error("a new record has the old patience")
	}
}

// An answer says what is reserved, for how long and for whom, and a small one may not have that room.
func TestReservationIsTold(t *testing.T) {
	p := dueProblem()
	five := 5.0
	p.Applications[0].Ends = &five
	d := mustReallocate(t, p)
	want := []Reservation{{ID: "a2", Servers: map[string]int64{"s0": 4}, At: &five, For: []string{"a0"}}}
	if diff := cmp.Diff(want, d.Reservations); diff != "" {
		t.Error(diff)
	}
	texts := map[string]string{}
	for _, w := range d.Waiting {
		texts[w.ID] = w.Reason.Text
	}
	if got := texts["a2"]; !strings.Contains(got, `4 containers are reserved for it on "s0" until 5. It waits for the end of "a0"`) {
		t.Errorf("%s", got)
	}
	if got := texts["a3"]; !strings.HasPrefix(got, `it may not be placed: the room is reserved for "a2" until 5`) {
		t.Errorf("%s", got)
	}
	// What ends by then delays nothing.
	p.Applications[3].Ends = &five
	if d := mustReallocate(t, p); d.Allocation.Containers("a3") != 1 {
		t.Errorf("%+v", d.Waiting)
	}
	// One that would grow there hears the same.
	p = dueProblem()
	p.Applications[3] = Application{ID: "a3", Weight: 1, Form: Form{Demand: apportion.Resources{1}, Max: 1}}
	d = mustReallocate(t, p)
	e, err := Explain(p, d)
	if err != nil || !strings.Contains(e.Applications[3].Text, `reserved for "a2". Nobody knows when "a0" will have ended`) {
		t.Errorf("%+v, %v", e, err)
	}
}

func mustReallocate(t *testing.T, p *Problem) *Decision {
	t.Helper()
	d, err := Reallocate(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(p, d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Where a ceiling is what it waits for no servers are reserved, and below the ceiling nobody takes the place.
func TestReservedBelowACeiling(t *testing.T) {
	p := gpuProblem(8)
	p.Theta1, p.Theta2 = .1, .1
	p.Queues = []drf.Queue{{ID: "q", Weight: 1, Ceiling: drf.Ceiling{4}}}
	for range 3 {
		p.add(1, 1, 1, 1).Queue = "q"
	}
	gang := p.add(1, 3, 3)
	gang.Queue, gang.Passed = "q", 1
	p.add(1, 1, 1).Queue = "q"
	p.add(1, 1, 1)
	d := mustReallocate(t, p)
	if len(d.Reservations) != 1 || d.Reservations[0].Servers != nil || len(d.Reservations[0].For) != 2 {
		t.Errorf("%+v", d.Reservations)
	}
	if d.Allocation.Containers("a4") != 0 || d.Allocation.Containers("a5") != 1 {
		t.Errorf("%v", d.Allocation)
	}
	p.Applications = append(p.Applications[:0:0], p.Applications[2:]...)
	if d := mustReallocate(t, p); d.Allocation.Containers("a3") != 3 {
		t.Errorf("with room below the ceiling: %+v", d.Waiting)
	}
}

// What is reserved for one beyond its queue's guarantee gives way to one within its own, and to none else.
func TestGuaranteeBreaksAReservation(t *testing.T) {
	p := dueProblem()
	p.Queues = []drf.Queue{{ID: "a", Weight: 1}, {ID: "b", Weight: 1, Guarantee: apportion.Resources{1}}}
	p.Applications[2].Queue = "a"
	p.Applications[3].Queue = "b"
	if d := mustReallocate(t, p); d.Allocation.Containers("a3") != 1 || len(d.Reservations) != 1 || len(d.Reservations[0].For) != 2 {
		t.Errorf("%v, %+v", d.Allocation, d.Reservations)
	}
	p.Queues[1].Guarantee = nil
	if d := mustReallocate(t, p); d.Allocation.Containers("a3") != 0 {
		t.Errorf("without a guarantee: %v", d.Allocation)
	}
}

// What a decision says of reservations must follow from its problem.
func TestReservationsAreChecked(t *testing.T) {
	p := dueProblem()
	for name, change := range map[string]func(*Decision){
		"more than may be":             func(d *Decision) { d.Reservations = append(d.Reservations, Reservation{ID: "a3"}) },
		`"a3" is not due`:              func(d *Decision) { d.Reservations[0].ID = "a3" },
		`"x" is not here`:              func(d *Decision) { d.Reservations[0].ID = "x" },
		"has not its least":            func(d *Decision) { d.Reservations[0].Servers["s0"] = 3 },
		`cannot be on server "s9"`:     func(d *Decision) { d.Reservations[0].Servers = map[string]int64{"s9": 4} },
		`waits for "a3", which has no`: func(d *Decision) { d.Reservations[0].For = []string{"a3"} },
		"is not for that time":         func(d *Decision) { d.Reservations[0].At = new(float64) },
		"Passed contradicts":           func(d *Decision) { d.Waiting[0].Passed = 7 },
		"Violated":                     func(d *Decision) { d.Reservations[0].For = nil; d.Reservations[0].At = new(float64) },
	} {
		d := mustReallocate(t, p)
		change(d)
		if _, err := Verify(p, d); !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), name) && name != "Violated" {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A record of before says nothing of it.
	d := mustReallocate(t, p)
	proof, err := Verify(p, d)
	if err != nil || !strings.Contains(strings.Join(proof.Unchecked, " "), "Reservations") {
		t.Errorf("%+v, %v", proof, err)
	}
}

// Bad amounts are errors, what has gone is told.
func TestPatienceIsValidated(t *testing.T) {
	minus, nan := -1.0, math.NaN()
	none := int64(-1)
	for _, c := range []struct {
		change func(*Problem)
		want   error
		field  string
	}{
		{func(p *Problem) { p.Applications[2].Passed = -1 }, apportion.ErrNegative, `"a2": Passed`},
		{func(p *Problem) { p.Applications[2].Passed = math.Inf(1) }, apportion.ErrNotFinite, `"a2": Passed`},
		{func(p *Problem) { p.Applications[2].Ends = &minus }, apportion.ErrNegative, `"a2": Ends`},
		{func(p *Problem) { p.Options.Patience = &nan }, apportion.ErrNotFinite, "Options.Patience"},
		{func(p *Problem) { p.Options.Reservations = &none }, apportion.ErrNegative, "Options.Reservations"},
		{func(p *Problem) { p.Reservations = []Reservation{{}} }, apportion.ErrEmpty, "ID"},
		{func(p *Problem) { p.Reservations = []Reservation{{ID: "a2"}, {ID: "a2"}} }, apportion.ErrDuplicate, "ID"},
		{func(p *Problem) { p.Reservations = []Reservation{{ID: "a2", At: &nan}} }, apportion.ErrNotFinite, "At"},
		{func(p *Problem) { p.Reservations = []Reservation{{ID: "a2", Servers: map[string]int64{"s0": -1}}} }, apportion.ErrNegative, "Servers[s0]"},
	} {
		p := dueProblem()
		c.change(p)
		if err := p.Validate(); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.field) {
			t.Errorf("%v, want %v of %s", err, c.want, c.field)
		}
	}
	p := dueProblem()
	p.Applications[0].Passed = 1
	p.Reservations = []Reservation{{ID: "a2", Servers: map[string]int64{"gone": 4}}}
	e, err := Explain(p, mustReallocate(t, p))
	if err != nil || len(e.Warnings) < 2 || !strings.Contains(e.String(), "server that is not here") || !strings.Contains(e.String(), `has no effect, as it runs: "a0"`) {
		t.Errorf("%v, %v", e.Warnings, err)
	}
}

// Of choices that wait for as few the one that was reserved stays.
func TestReservationStays(t *testing.T) {
	p := gpuProblem(2, 2)
	p.Theta2 = 0
	p.add(1, 1, 1, 1, 0)
	p.add(1, 1, 1, 0, 1)
	p.add(2, 1, 1)
	for server, on := range map[string]string{"s0": "a0", "s1": "a1"} {
		p.Applications[2].Passed, p.Reservations = 1, []Reservation{{ID: "a2", Servers: map[string]int64{server: 1}, For: []string{on}}}
		if d := mustReallocate(t, p); len(d.Reservations) != 1 || d.Reservations[0].Servers[server] != 1 {
			t.Errorf("%s: %+v", server, d.Reservations)
		}
	}
}

// Passed is what was let in after it was asked, and what has grown; the first of each leaf alone is.
func TestPassed(t *testing.T) {
	p := gpuProblem(8)
	p.Theta1, p.Theta2 = 1, 1
	p.add(1, 1, 2, 1)
	p.Applications[0].Pinned = true
	p.add(1, 2, 2)
	p.add(1, 6, 6).Passed = .25
	p.add(1, 7, 7).Passed = .125
	p.add(1, 1, 1)
	p.add(1, 2, 2)
	d := mustReallocate(t, p)
	got := map[string]float64{}
	for _, w := range d.Waiting {
		got[w.ID] = w.Passed
	}
	if want := map[string]float64{"a2": .25 + 3./8, "a3": .125}; !cmp.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// One that is let in begins anew, and one that grows passes as well.
	p.Applications = append(p.Applications[:1:1], p.Applications[2:4]...)
	p.Applications[0].Pinned = false
	p.Applications[1].Min, p.Applications[1].Max = 7, 8
	p.Previous["other"] = map[string]int64{"s0": 0}
	p.Applications = append(p.Applications, Application{ID: "pinned", Weight: 1, Pinned: true, Form: Form{Demand: apportion.Resources{1}, Min: 1, Max: 1}})
	p.Previous["pinned"] = map[string]int64{"s0": 1}
	if d := mustReallocate(t, p); len(d.Waiting) != 2 || d.Waiting[0].Passed != .25+1./8 || d.Waiting[1].Passed != .125 {
		t.Errorf("%+v", d.Waiting)
	}
}

// Room is kept first for one that stays within its guarantee, and for one of each queue.
func TestHolders(t *testing.T) {
	two := int64(2)
	for _, c := range []struct {
		change func(*Problem)
		want   string
	}{
		{func(*Problem) {}, "a1"},
		{func(p *Problem) { p.Queues[1].Guarantee = apportion.Resources{4} }, "a3"},
		{func(p *Problem) { p.Reservations = []Reservation{{ID: "a2"}} }, "a2"},
		{func(p *Problem) {
			p.Reservations = []Reservation{{ID: "a2"}}
			p.Queues[1].Guarantee = apportion.Resources{4}
		}, "a3"},
		{func(p *Problem) { p.Options.Reservations = &two }, "a1 a3"},
	} {
		p := gpuProblem(4, 4)
		p.Theta1, p.Theta2 = .1, .1
		p.Queues = []drf.Queue{{ID: "x", Weight: 1}, {ID: "y", Weight: 1}}
		p.add(1, 8, 8, 4, 4).Queue = "x"
		for i, queue := range []string{"x", "x", "y"} {
			app := p.add(1, 3, 3)
			app.Queue, app.Passed = queue, 2-float64(i)/4
		}
		c.change(p)
		var got []string
		for _, v := range mustReallocate(t, p).Reservations {
			got = append(got, v.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
}

// A reservation that was broken is chosen again before others are asked.
func TestBrokenReservationMoves(t *testing.T) {
	p := gpuProblem(2, 2, 2)
	p.Theta1, p.Theta2 = .1, 0
	p.Servers[2].Labels = map[string]string{"far": "yes"}
	p.Queues = []drf.Queue{{ID: "x", Weight: 1}, {ID: "y", Weight: 1, Guarantee: apportion.Resources{2}}}
	p.add(1, 1, 1, 1).Queue = "x"
	p.add(1, 1, 1, 0, 1).Queue = "x"
	p.add(1, 1, 1, 0, 1).Queue = "x"
	p.add(1, 1, 1, 0, 0, 1).Queue = "x"
	for i := range p.Applications {
		p.Applications[i].Pinned = true
	}
	gang := p.add(2, 1, 1)
	gang.Queue, gang.Passed = "x", 1
	near := p.add(1, 1, 1)
	near.Queue, near.Requires = "y", []apportion.Requirement{{Key: "far", Op: apportion.NotExists}}
	p.add(1, 1, 1).Queue = "x"
	p.Reservations = []Reservation{{ID: "a4", Servers: map[string]int64{"s0": 1}}}
	d := mustReallocate(t, p)
	if d.Allocation.Containers("a5") != 1 || d.Allocation.Containers("a6") != 0 || d.Reservations[0].Servers["s2"] != 1 {
		t.Errorf("%v, %+v", d.Allocation, d.Reservations)
	}
}

// What is waited for neither grows nor makes room for others, however much these are worth.
func TestWaitedForStays(t *testing.T) {
	p := gpuProblem(4)
	p.add(1, 1, 4, 3)
	p.add(1, 1, 4, 1)
	p.Applications[1].Worth = []float64{10, 20, 30, 40}
	p.add(1, 3, 3).Passed = 2
	zero := int64(0)
	if d := mustReallocate(t, p); d.Allocation.Containers("a0") != 3 || d.Allocation.Containers("a1") != 1 || len(d.Reservations) != 1 {
		t.Errorf("%v, %+v", d.Allocation, d.Reservations)
	}
	if p.Options.Reservations = &zero; mustReallocate(t, p).Allocation.Containers("a1") != 3 {
		t.Errorf("without a reservation it does not grow")
	}
}

// Slices that come grow to what their queue is guaranteed, on what another queue has above its own; what runs is left as it is.
func TestSlicesHaveTheirGuarantee(t *testing.T) {
	for _, runs := range []bool{false, true} {
		p := gpuProblem(16, 16, 16, 16)
		p.Topology, p.Theta1 = []string{"rack"}, 1
		for j := range p.Servers {
			p.Servers[j].Labels = map[string]string{"rack": fmt.Sprint(j)}
		}
		p.Queues = []drf.Queue{{ID: "x", Weight: 1, Guarantee: apportion.Resources{32}}, {ID: "y", Weight: 1}}
		p.add(1, 1, 64, 0, 16, 16, 16).Queue = "y"
		app := p.add(1, 8, 32)
		app.Queue, app.Slices = "x", &Slices{Containers: 8, Within: "rack"}
		want := int64(32)
		if runs {
			p.Previous["a1"] = map[string]int64{"s0": 8}
			want = 8
		}
		if d := mustReallocate(t, p); d.Allocation.Containers("a1") != want {
			t.Errorf("runs %v: %v", runs, d.Allocation)
		}
	}
}

// sooner is what trying every set has found: the time, and for how many is waited at least; ok: there is such a set.
type sooner struct {
	at    float64
	waits int
	ok    bool
}

// isSoonest checks a reservation against it. Where each application is on one server, exactly as many are waited for.
func isSoonest(t *rapid.T, d *draft, v *reserved, want sooner) {
	if (v != nil) != want.ok || want.ok && v.at != want.at {
		t.Fatalf("%+v, want %+v", v, want)
	}
	single := true
	for _, placed := range d.counts {
		single = single && len(placed) < 2
	}
	if want.ok && (len(v.waits) < want.waits || single && len(v.waits) > want.waits) {
		t.Fatalf("%v are waited for, want %d", v.waits, want.waits)
	}
}
