// This file tests the scheduler under random sequences of events, against a recount from its answers.

package primaldual

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// spot is a machine in a slot.
type spot struct {
	id   string
	slot int
}

// machine is a scheduler under test and what the test knows of it.
type machine struct {
	size    size
	draw    source
	cluster *Cluster
	bounds  Bounds
	s       *Scheduler
	jobs    map[string]Job
	down    map[spot]bool
	clock   int // arrival of the job offered last
	number  int
	worth   map[string]float64 // what each job that runs was promised
}

func newMachine(draw source) *machine {
	m := &machine{
		size: tinySize, draw: draw, jobs: map[string]Job{}, down: map[spot]bool{}, clock: 1, worth: map[string]float64{},
	}
	m.cluster = m.size.cluster(draw)
	m.bounds = boundsDraw(draw, m.cluster, m.size.jobsOf(draw, m.cluster))
	m.start()
	return m
}

func (m *machine) start() {
	var err error
	if m.s, err = NewScheduler(m.cluster, &m.bounds, nil); err != nil {
		panic(err)
	}
}

// ids returns the jobs that run, sorted.
func (m *machine) ids() []string {
	var ids []string
	for id := range m.jobs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (m *machine) someJob() (string, bool) {
	ids := m.ids()
	if len(ids) == 0 {
		return "", false
	}
	return ids[m.draw(0, len(ids)-1)], true
}

func (m *machine) offer(t failer) {
	jobs := m.size.jobsOf(m.draw, m.cluster)
	j := jobs[0]
	j.ID = fmt.Sprint("j", m.number)
	m.number++
	j.Arrival = m.draw(max(m.clock, m.s.First()), m.s.Last())
	quote := must.Have(m.s.Quote(j))(t)
	checkOracle(t, m.s, j, quote)
	checkSchedule(t, m.s, &j, quote)
	d, err := m.s.Offer(j)
	if err != nil || !cmp.Equal(quote, d) {
		t.Fatalf("%v: quoted %+v, decided %+v", err, quote, d)
	}
	m.clock = j.Arrival
	if d.Admitted {
		m.jobs[j.ID], m.worth[j.ID] = j, d.Utility
	}
}

func (m *machine) cancel(t failer) {
	if id, ok := m.someJob(); ok {
		must.Do(t, m.s.Cancel(id))
		delete(m.jobs, id)
	}
}

func (m *machine) complete(t failer) {
	if id, ok := m.someJob(); ok && m.jobs[id].Arrival <= m.s.First() {
		schedule, _ := m.s.Schedule(id)
		slot := m.draw(m.jobs[id].Arrival, min(m.s.First(), schedule.completion()))
		got, err := m.s.Complete(id, slot)
		want := Finish{id, slot, m.jobs[id].Utility.Value(slot - m.jobs[id].Arrival)}
		if err != nil || got != want || got.Utility < m.worth[id] {
			t.Fatalf("completed %+v, %v, want %+v", got, err, want)
		}
		delete(m.jobs, id)
	}
}

func (m *machine) advance(t failer) {
	before := m.s.Last()
	slot := m.s.First() + m.draw(0, 2)
	var want []string
	for _, id := range m.ids() {
		if schedule, _ := m.s.Schedule(id); schedule.completion() < slot {
			want = append(want, id)
		}
	}
	ended := must.Have(m.s.Advance(slot))(t)
	var got []string
	for _, f := range ended {
		got = append(got, f.ID)
		delete(m.jobs, f.ID)
	}
	slices.Sort(got)
	must.Same(t, got, want, "ended")
	for fresh := before + 1; fresh <= m.s.Last(); fresh++ {
		for key := range m.down {
			if key.slot == before {
				m.down[spot{key.id, fresh}] = true
			}
		}
	}
}

// server draws a server and a slot and returns the server's name.
func (m *machine) server() (id string, side, server, slot int) {
	side = m.draw(0, 1)
	list := m.cluster.servers(Side(side))
	server = m.draw(0, len(list)-1)
	return list[server].ID, side, server, m.draw(m.s.First(), m.s.Last())
}

func (m *machine) fail(t failer) {
	id, side, server, slot := m.server()
	m.loses(t, side, server, slot, func() ([]Displacement, error) { return m.s.Fail(id, slot) })
}

// loses checks that a server goes in a slot, and that just the jobs with containers there are planned again.
func (m *machine) loses(t failer, side, server, slot int, event func() ([]Displacement, error)) {
	var uses []string
	old := map[string]Schedule{}
	for _, j := range m.ids() {
		old[j], _ = m.s.Schedule(j)
		if m.s.ledger.holds(old[j], m.s.ledger.machine(Side(side), server), slot) {
			uses = append(uses, j)
		}
	}
	out := must.Have(event())(t)
	for s := slot; s <= m.s.Last(); s++ {
		m.down[spot{m.cluster.servers(Side(side))[server].ID, s}] = true
	}
	var displaced []string
	for _, d := range out {
		displaced = append(displaced, d.ID)
		m.displaced(t, d, old[d.ID], slot)
	}
	slices.Sort(displaced)
	must.Same(t, displaced, uses, "displaced")
	m.named(t, out, old)
}

// named checks that every job whose schedule a change of the cluster has changed is displaced, once.
func (m *machine) named(t failer, out []Displacement, old map[string]Schedule) {
	displaced := map[string]int{}
	for _, d := range out {
		displaced[d.ID]++
	}
	for id, was := range old {
		if now, _ := m.s.Schedule(id); displaced[id] > 1 || displaced[id] == 0 && !cmp.Equal(was, now) {
			t.Fatalf("%s runs %v in place of %v, and is displaced %d times", id, now, was, displaced[id])
		}
	}
}

// displaced checks that a displaced job keeps its past and does all its work, or is gone.
func (m *machine) displaced(t failer, d Displacement, old Schedule, slot int) {
	now, running := m.s.Schedule(d.ID)
	m.worth[d.ID] = d.Decision.Utility
	must.Equal(t, running, d.Decision.Admitted, d, "but running")
	if !running {
		delete(m.jobs, d.ID)
		return
	}
	j := m.jobs[d.ID]
	kept := old.before(slot)
	if !cmp.Equal(old[:kept], now[:kept]) || !cmp.Equal(d.Decision.Schedule, now[kept:], cmpopts.EquateEmpty()) {
		t.Fatalf("schedule %v, was %v, displaced to %v", now, old, d.Decision.Schedule)
	}
	if now.WorkerSlots() < j.WorkerSlots() || d.Decision.Utility != j.Utility.Value(now.completion()-j.Arrival) {
		t.Fatalf("%d worker-slots of %d, %+v", now.WorkerSlots(), j.WorkerSlots(), d)
	}
}

func (m *machine) repair(t failer) {
	id, side, server, slot := m.server()
	must.Do(t, m.s.Repair(id, slot))
	for s := slot; s <= m.s.Last(); s++ {
		delete(m.down, spot{m.cluster.servers(Side(side))[server].ID, s})
	}
}

// mistake makes calls that must fail and change nothing.
func (m *machine) mistake(t failer) {
	before, _ := m.s.Snapshot()
	_, errFinish := m.s.Complete("nobody", m.s.First())
	_, errBack := m.s.Advance(m.s.First() - 1)
	_, errServer := m.s.Fail("nobody", m.s.First())
	_, errLate := m.s.Fail(m.cluster.WorkerServers[0].ID, m.s.Last()+1)
	for _, err := range []error{errFinish, errBack, errServer, errLate, m.s.Cancel("nobody")} {
		if !errors.Is(err, apportion.ErrUnknown) && !errors.Is(err, apportion.ErrRange) {
			t.Fatalf("%v", err)
		}
	}
	for _, j := range m.jobs {
		j.Arrival = m.s.Last()
		must.Fail(m.s.Offer(j))(t, apportion.ErrDuplicate, "offer of a job that runs")
	}
	if after, _ := m.s.Snapshot(); !bytes.Equal(before, after) {
		t.Fatalf("a mistake changed the scheduler")
	}
}

// check counts what the schedules take and compares it with the ledger, price by price; then it goes
// on with a copy made from a snapshot.
func (m *machine) check(t failer) {
	used := map[spot]apportion.Resources{}
	for id, j := range m.jobs {
		schedule, ok := m.s.Schedule(id)
		if !ok {
			t.Fatalf("job %s is lost", id)
		}
		if value := j.Utility.Value(schedule.completion() - j.Arrival); value < m.worth[id] || schedule.WorkerSlots() < j.WorkerSlots() {
			t.Fatalf("job %s is worth %g, promised %g; %d of %d worker-slots", id, value, m.worth[id], schedule.WorkerSlots(), j.WorkerSlots())
		}
		for i := range schedule {
			for _, side := range []Side{Workers, ParameterServers} {
				for _, p := range schedule[i].on(side) {
					if slices.ContainsFunc(j.requires(side), func(q apportion.Requirement) bool {
						return !q.Holds(m.cluster.servers(side)[p.Server].Labels)
					}) {
						t.Fatalf("job %s on %v server %d, which does not suit", id, side, p.Server)
					}
					at := spot{m.cluster.servers(side)[p.Server].ID, schedule[i].Slot}
					if m.down[at] && schedule[i].Slot >= m.s.First() {
						t.Fatalf("job %s has slot %d on %v server %d, which is down", id, schedule[i].Slot, side, p.Server)
					}
					if used[at] == nil {
						used[at] = make(apportion.Resources, len(m.cluster.Kinds))
					}
					for r, q := range j.demand(side) {
						used[at][r] += q * p.Count
					}
				}
			}
		}
	}
	for slot := m.s.First(); slot <= m.s.Last(); slot++ {
		for _, side := range []Side{Workers, ParameterServers} {
			for h, server := range m.cluster.servers(side) {
				got, err := m.s.ledger.Used(side, slot, h)
				prices, errPrices := m.s.ledger.Prices(side, slot, h)
				if err != nil || errPrices != nil {
					t.Fatalf("%v, %v", err, errPrices)
				}
				for r, c := range server.Capacity {
					want := int64(0)
					if taken := used[spot{server.ID, slot}]; taken != nil {
						want = taken[r]
					}
					if got[r] != want || want > c {
						t.Fatalf("slot %d, %v server %d: %d of %d taken, counted %d", slot, side, h, got[r], c, want)
					}
					m.checkPrice(t, endsOf(&m.bounds, side, r), prices[r], [2]int64{want, c})
				}
			}
		}
	}
	must.Do(t, m.s.recount())
	m.restore(t)
}

// endsOf returns U and L of a kind on a side.
func endsOf(bounds *Bounds, side Side, kind int) [2]float64 {
	if side == ParameterServers {
		return [2]float64{bounds.UPS[kind], bounds.LPS[kind]}
	}
	return [2]float64{bounds.UWorker[kind], bounds.LWorker[kind]}
}

// checkPrice compares a price with the formula, directly.
func (m *machine) checkPrice(t failer, ends [2]float64, got float64, use [2]int64) {
	upper, lower := ends[0], ends[1]
	want := 0.0
	if lower > 0 && use[1] > 0 && upper/lower < 1e300 {
		want = lower * math.Pow(upper/lower, float64(use[0])/float64(use[1]))
	} else if lower > 0 && use[1] > 0 {
		return // the direct formula overflows
	}
	if math.Abs(got-want) > 1e-9*want {
		t.Fatalf("price %g at %d of %d, want %g", got, use[0], use[1], want)
	}
}

// restore replaces the scheduler by one made from its snapshot, which must be the same bytes again.
func (m *machine) restore(t failer) {
	data := must.Have(m.s.Snapshot())(t)
	s := must.Have(RestoreScheduler(m.cluster, &m.bounds, nil, data))(t)
	again, err := s.Snapshot()
	if err != nil || !bytes.Equal(data, again) {
		t.Fatalf("a restored scheduler has another snapshot (%v)", err)
	}
	m.s = s
}

// actions returns the events by name.
func (m *machine) actions() map[string]func(failer) {
	return map[string]func(failer){
		"offer": m.offer, "offer again": m.offer, "cancel": m.cancel, "complete": m.complete,
		"advance": m.advance, "fail": m.fail, "repair": m.repair, "mistake": m.mistake,
	}
}

func TestSchedulerMachineProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(fromRapid(t))
		actions := map[string]func(*rapid.T){"": func(t *rapid.T) { m.check(t) }}
		for name, action := range m.actions() {
			actions[name] = func(t *rapid.T) { action(t) }
		}
		t.Repeat(actions)
	})
}

// The same on long sequences from seeds.
func TestSchedulerMachine(t *testing.T) {
	runs, steps := uint64(150), 60
	if testing.Short() {
		runs = 20
	}
	counts := map[string]int{}
	for seed := range runs {
		m := newMachine(fromSeed(seed))
		actions := m.actions()
		var names []string
		for name := range actions {
			names = append(names, name)
		}
		slices.Sort(names)
		for step := range steps {
			name := "offer"
			if step%2 == 1 {
				name = names[m.draw(0, len(names)-1)]
			}
			actions[name](t)
			m.check(t)
			counts[name]++
			counts["running"] += len(m.jobs)
		}
	}
	t.Logf("%v", counts)
	if counts["running"] < int(runs)*steps/2 {
		t.Errorf("less than half a job ran on average: %v", counts)
	}
}

// Equal calls in equal order give equal answers, to the last bit, fifty times.
func TestDeterministic(t *testing.T) {
	var want []byte
	for run := range 50 {
		m := newMachine(fromSeed(5))
		m.size = mediumSize
		for range 40 {
			for _, action := range []func(failer){m.offerOnly, m.offerOnly, m.advance, m.fail, m.repair} {
				action(t)
			}
		}
		got := must.Have(m.s.Snapshot())(t)
		if run == 0 {
			want = got
		} else if !bytes.Equal(got, want) {
			t.Fatalf("run %d differs", run)
		}
	}
}

// offerOnly offers a job without the exhaustive search.
func (m *machine) offerOnly(t failer) {
	j := m.size.jobsOf(m.draw, m.cluster)[0]
	j.ID = fmt.Sprint("j", m.number)
	m.number++
	j.Arrival = m.draw(max(m.clock, m.s.First()), m.s.Last())
	d := must.Have(m.s.Offer(j))(t)
	m.clock = j.Arrival
	if d.Admitted {
		m.jobs[j.ID], m.worth[j.ID] = j, d.Utility
	}
}
