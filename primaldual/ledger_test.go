// This file tests the ledger, bounds and cluster: what they refuse, and their arithmetic.

package primaldual

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

func TestClusterValidate(t *testing.T) {
	good, _ := plainCluster(3, 4)
	change := func(f func(c *Cluster)) *Cluster {
		c := good.clone()
		f(c)
		return c
	}
	must.Do(t, good.Validate())
	for _, test := range []struct {
		name    string
		cluster *Cluster
		field   string
		want    error
	}{
		{"no kinds", change(func(c *Cluster) { c.Kinds = nil }), "Kinds", apportion.ErrEmpty},
		{"no slots", change(func(c *Cluster) { c.Slots = 0 }), "Slots", apportion.ErrRange},
		{"no worker servers", change(func(c *Cluster) { c.WorkerServers = nil }), "WorkerServers", apportion.ErrEmpty},
		{"no ps servers", change(func(c *Cluster) { c.PSServers = nil }), "PSServers", apportion.ErrEmpty},
		{"a capacity too many", change(func(c *Cluster) { c.PSServers[1].Capacity = vec{1, 1} }), "Capacity", apportion.ErrLength},
		{"a negative capacity", change(func(c *Cluster) { c.PSServers[1].Capacity = vec{-1} }), "Capacity[unit]", apportion.ErrNegative},
		{"two servers of one id", change(func(c *Cluster) { c.WorkerServers[1].ID = "w0" }), "ID", apportion.ErrDuplicate},
		{"one machine on both sides", change(func(c *Cluster) { c.PSServers[1] = c.WorkerServers[0] }), "ID", apportion.ErrConflict},
		{"sum overflows", change(func(c *Cluster) {
			c.WorkerServers[0].Capacity, c.WorkerServers[1].Capacity = vec{math.MaxInt64}, vec{1}
		}), "WorkerServers", apportion.ErrOverflow},
	} {
		err := test.cluster.Validate()
		var fault *apportion.FieldError
		if !errors.Is(err, test.want) || test.want != nil && (!errors.As(err, &fault) || fault.Field != test.field) {
			t.Errorf("%s: %v, want %s %v", test.name, err, test.field, test.want)
		}
	}
}

func TestBoundsValidate(t *testing.T) {
	kinds := apportion.Kinds{"a", "b"}
	nan := math.NaN()
	for _, test := range []struct {
		name         string
		upper, lower []float64
		want         error
	}{
		{"good", []float64{2, 0}, []float64{1, 0}, nil},
		{"short", []float64{2}, []float64{1, 1}, apportion.ErrLength},
		{"U not a number", []float64{nan, 0}, []float64{1, 0}, apportion.ErrNotFinite},
		{"U infinite", []float64{inf, 0}, []float64{1, 0}, apportion.ErrNotFinite},
		{"both infinite", []float64{inf, 0}, []float64{inf, 0}, apportion.ErrNotFinite},
		{"L negative", []float64{2, 0}, []float64{-1, 0}, apportion.ErrNegative},
		{"U = L", []float64{2, 1}, []float64{1, 1}, apportion.ErrConflict},
		{"U < L", []float64{2, 1}, []float64{1, 2}, apportion.ErrConflict},
		{"L 0", []float64{2, 1}, []float64{1, 0}, apportion.ErrConflict},
	} {
		for _, b := range []Bounds{
			{UWorker: test.upper, LWorker: test.lower, UPS: []float64{0, 0}, LPS: []float64{0, 0}},
			{UPS: test.upper, LPS: test.lower, UWorker: []float64{0, 0}, LWorker: []float64{0, 0}},
		} {
			must.Err(t, b.Validate(kinds), test.want, test.name)
		}
	}
}

func TestBoundsOfRefuses(t *testing.T) {
	cluster, jobs := formulaExample()
	for _, test := range []struct {
		name    string
		jobs    []Job
		options *BoundsOptions
		want    error
	}{
		{"two jobs of one id", append(jobs[:1:1], jobs[0]), nil, apportion.ErrDuplicate},
		{"a bad job", []Job{{ID: "x"}}, nil, apportion.ErrRange},
		{"utility not a number", []Job{func() Job { j := jobs[0]; j.Utility = Constant(math.NaN()); return j }()}, nil, apportion.ErrNotFinite},
		{"LScale negative", jobs, &BoundsOptions{LScale: -1}, apportion.ErrNegative},
		{"Reached negative", jobs, &BoundsOptions{Reached: -1}, apportion.ErrNegative},
		{"Reached infinite", jobs, &BoundsOptions{Reached: math.Inf(1)}, apportion.ErrNotFinite},
		{"UScale not a number", jobs, &BoundsOptions{UScale: math.NaN()}, apportion.ErrNotFinite},
		{"LFloorEps 1", jobs, &BoundsOptions{LFloorEps: 1}, apportion.ErrRange},
		{"U infinite", jobs, &BoundsOptions{UScale: math.MaxFloat64}, apportion.ErrNotFinite},
	} {
		must.Fail(BoundsOf(cluster, test.jobs, test.options))(t, test.want, test.name)
	}
}

// Every option does what it says.
func TestBoundsOfOptions(t *testing.T) {
	cluster, jobs := formulaExample()
	plain := boundsOf(t, cluster, jobs, nil)
	double := boundsOf(t, cluster, jobs, &BoundsOptions{UScale: 2, LScale: 0.5})
	near(t, "U doubled", double.UWorker, []float64{2 * plain.UWorker[0], 2 * plain.UWorker[1]})
	near(t, "L halved", double.LWorker, []float64{plain.LWorker[0] / 2, plain.LWorker[1] / 2})
	cut := boundsOf(t, cluster, jobs, &BoundsOptions{LScale: 1e9})
	near(t, "L cut", cut.LWorker, []float64{plain.UWorker[0] / 4, plain.UWorker[1] / 4})
	global := boundsOf(t, cluster, jobs, &BoundsOptions{EtaGlobal: true, RawUnits: true, LFloorEps: -1})
	near9(t, "L with one eta", global.LWorker, []float64{0.003787879, 0.003787879})
	// C is worth less than a tenth of A and does not count; the least worth is then that of B, 10.
	floor := boundsOf(t, cluster, jobs, &BoundsOptions{RawUnits: true, LFloorEps: 0.1})
	near(t, "L with a floor", floor.LWorker, []float64{10.0 / (4 * 66), 10.0 / (4 * 66)})
	// A rolling horizon leaves C, which arrives in slot 2, three slots instead of two.
	rolling := boundsOf(t, cluster, jobs, &BoundsOptions{RawUnits: true, LFloorEps: -1, Rolling: true})
	near6(t, "L, rolling", rolling.LWorker, []float64{0.476812 / (4 * 66), 0.476812 / (4 * 66)})
}

// What nobody demands is no part of the bounds, however much of it there is.
func TestBoundsOfUnused(t *testing.T) {
	cluster, jobs := formulaExample()
	want := boundsOf(t, cluster, jobs, nil)
	for i := range cluster.PSServers {
		cluster.PSServers[i].Capacity[0] = 1000 // no parameter server has a GPU
	}
	if diff := cmp.Diff(want, boundsOf(t, cluster, jobs, nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A utility that underflows at the horizon must not make L zero or prices anything but numbers.
func TestBoundsOfUnderflow(t *testing.T) {
	cluster, bounds := plainCluster(300, 4)
	j := plainJob("critical", 1)
	j.Utility = Sigmoid{50, 5, 8}
	literal := boundsOf(t, cluster, []Job{j}, &BoundsOptions{Literal: true})
	if literal.LWorker[0] <= 0 || literal.LWorker[0] > 1e-300 {
		t.Errorf("literal L %g, want a tiny number", literal.LWorker[0])
	}
	for _, options := range []*BoundsOptions{{Literal: true}, nil} {
		*bounds = boundsOf(t, cluster, []Job{j}, options)
		curve := newCurve(bounds.UWorker[0], bounds.LWorker[0])
		before := 0.0
		for used := range int64(5) {
			price := curve.at(used, 4)
			if !(price > before) || math.IsInf(price, 0) {
				t.Errorf("price %g at %d of 4, %g before", price, used, before)
			}
			before = price
		}
		near9(t, "price of a full server", []float64{before / bounds.UWorker[0]}, []float64{1})
	}
}

func TestLedgerRefusesSchedules(t *testing.T) {
	cluster, bounds := plainCluster(3, 4)
	l := must.Have(NewLedger(cluster, bounds))(t)
	must.Do(t, l.Advance(2))
	j := plainJob("j", 2)
	good := Schedule{{Slot: 2, Workers: []apportion.Placement{{Server: 0, Count: 3}}, PS: []apportion.Placement{{Server: 1, Count: 2}}}}
	must.Do(t, l.Commit(&j, good))
	one := func(slot, server int, count int64) Schedule {
		return Schedule{{Slot: slot, Workers: []apportion.Placement{{Server: server, Count: count}}}}
	}
	must.Do(t, l.setDown(l.machine(ParameterServers, 0), 3, true))
	commits := []struct {
		name     string
		schedule Schedule
		want     error
	}{
		{"past", one(1, 0, 1), apportion.ErrRange},
		{"after the horizon", one(5, 0, 1), apportion.ErrRange},
		{"unknown server", one(3, 2, 1), apportion.ErrUnknown},
		{"negative server", one(3, -1, 1), apportion.ErrUnknown},
		{"count 0", one(3, 0, 0), apportion.ErrRange},
		{"count negative", one(3, 0, -1), apportion.ErrRange},
		{"over capacity", one(2, 0, 2), ErrOverCapacity},
		{"over capacity by far", one(2, 0, math.MaxInt64), ErrOverCapacity},
		{"slots descend", append(one(3, 0, 1), one(2, 0, 1)...), apportion.ErrDuplicate},
		{"a slot twice", append(one(3, 0, 1), one(3, 0, 1)...), apportion.ErrDuplicate},
		{"a server twice", Schedule{{Slot: 3, Workers: []apportion.Placement{{Server: 0, Count: 3}, {Server: 0, Count: 3}}}}, apportion.ErrDuplicate},
		{"a server that is down", Schedule{{Slot: 3, PS: []apportion.Placement{{Server: 0, Count: 1}}}}, ErrDown},
		{"the second slot does not fit", append(one(2, 1, 1), one(3, 0, 5)...), ErrOverCapacity},
	}
	before := picture(l)
	for _, test := range commits {
		must.Err(t, l.Commit(&j, test.schedule), test.want, "commit", test.name)
	}
	for _, test := range []struct {
		name     string
		schedule Schedule
		want     error
	}{
		{"more than was taken", one(2, 0, 4), ErrNotTaken},
		{"of another server", one(2, 1, 1), ErrNotTaken},
		{"of another slot", one(3, 0, 1), ErrNotTaken},
		{"count negative", one(2, 0, -1), apportion.ErrRange},
		{"second slot", append(one(2, 0, 1), one(3, 0, 1)...), ErrNotTaken},
	} {
		must.Err(t, l.Release(&j, test.schedule, 0), test.want, "release", test.name)
	}
	other := j
	other.Worker = vec{1, 1}
	must.Err(t, l.Commit(&other, good), apportion.ErrLength, "a demand too many")
	must.Equal(t, before, picture(l), "a refusal changed the ledger")
	if err := l.Release(&j, good, 0); err != nil || l.slots[0].used != nil {
		t.Errorf("release of everything: %v, %+v", err, l.slots[0])
	}
}

func TestLedgerAsks(t *testing.T) {
	cluster, bounds := plainCluster(3, 4)
	l, _ := NewLedger(cluster, bounds)
	for _, at := range []struct {
		side         Side
		slot, server int
		want         error
	}{
		{Workers, 1, 1, nil}, {ParameterServers, 3, 0, nil}, {2, 1, 0, apportion.ErrUnknown}, {255, 1, 0, apportion.ErrUnknown},
		{Workers, 0, 0, apportion.ErrRange}, {Workers, 4, 0, apportion.ErrRange},
		{Workers, 1, 2, apportion.ErrUnknown}, {ParameterServers, 1, -1, apportion.ErrUnknown},
	} {
		_, errUsed := l.Used(at.side, at.slot, at.server)
		_, errPrices := l.Prices(at.side, at.slot, at.server)
		if !errors.Is(errUsed, at.want) || !errors.Is(errPrices, at.want) {
			t.Errorf("%+v: %v, %v", at, errUsed, errPrices)
		}
	}
}

// Quantities are exact up to the greatest int64.
func TestLedgerLargeQuantities(t *testing.T) {
	const most = math.MaxInt64
	cluster := &Cluster{
		Kinds: apportion.Kinds{"byte"}, Slots: 1,
		WorkerServers: servers("w", vec{most}), PSServers: servers("p", vec{most}),
	}
	bounds := &Bounds{UWorker: []float64{8}, LWorker: []float64{1}, UPS: []float64{8}, LPS: []float64{1}}
	l := must.Have(NewLedger(cluster, bounds))(t)
	j := plainJob("j", 1)
	j.Worker, j.PS = vec{most/2 + 1}, vec{most}
	plan := Schedule{{Slot: 1, Workers: []apportion.Placement{{Server: 0, Count: 1}}, PS: []apportion.Placement{{Server: 0, Count: 1}}}}
	must.Do(t, l.Commit(&j, plan))
	j.PS = vec{0}
	must.Err(t, l.Commit(&j, plan), ErrOverCapacity, "two halves and one more")
	j.Worker = vec{most / 2}
	must.Do(t, l.Commit(&j, plan), "exactly full")
	prices, _ := l.Prices(Workers, 1, 0)
	near(t, "price of a full server", prices, []float64{8})
}
