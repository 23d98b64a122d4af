// This file tests what becomes of jobs whose utilities break their rules after they were admitted.

package primaldual

import (
	"fmt"
	"math"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// turning is a utility that keeps the rules up to a time, and after it is worth something else.
type turning struct {
	Utility
	until int
	after float64
}

func (u turning) Value(d int) float64 {
	if d > u.until {
		return u.after
	}
	return u.Utility.Value(d)
}

// turned counts what happened to jobs that turn, and holds those that run.
type turned struct {
	t    *testing.T
	jobs map[string]Job
	late int // decisions about jobs that had been admitted before
}

// decided checks a decision about a job that runs: it is worth a number, and no more than its utility said at that time,
// or when it was last sound.
func (k *turned) decided(id string, d *Decision) {
	job := k.jobs[id]
	sound := job.Utility.(turning)
	if !(d.Utility >= 0) || d.Admitted && d.Utility > sound.Utility.Value(min(d.Completion-job.Arrival, sound.until)) {
		k.t.Fatalf("%s of slot %d, sound up to %d: %+v", id, job.Arrival, sound.until, d)
	}
	if k.late++; !d.Admitted {
		delete(k.jobs, id)
	}
}

// event plays one event, and fails on any error: what has happened must be recorded.
func (k *turned) event(m *machine) {
	id, _, _, slot := m.server()
	var out []Displacement
	var err error
	switch m.draw(0, 2) {
	case 0:
		out, err = m.s.Fail(id, slot)
	case 1:
		err = m.s.Repair(id, slot)
	case 2:
		var ended []Finish
		ended, err = m.s.Advance(m.s.First() + m.draw(0, 1))
		for _, f := range ended {
			delete(k.jobs, f.ID)
		}
	}
	if err != nil {
		k.t.Fatal(err)
	}
	for i := range out {
		k.decided(out[i].ID, &out[i].Decision)
	}
	must.Do(k.t, m.s.recount())
}

// Whatever utilities turn into beyond the horizon at which their jobs were offered, every event is recorded, and no job
// is worth more for it.
func TestUtilitiesTurn(t *testing.T) {
	k := &turned{t: t}
	for seed := range uint64(120) {
		m := newMachine(fromSeed(seed))
		k.jobs = map[string]Job{}
		for step := range 40 {
			j := m.size.jobsOf(m.draw, m.cluster)[0]
			j.ID, j.Arrival = fmt.Sprint("j", step), max(m.clock, m.s.First())
			j.Utility = turning{j.Utility, m.s.Last() - j.Arrival, []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e9}[m.draw(0, 4)]}
			d := must.Have(m.s.Offer(j))(t)
			m.clock = j.Arrival
			if d.Admitted {
				k.jobs[j.ID] = j
			}
			k.event(m)
		}
	}
	if k.late < 100 {
		t.Errorf("only %d decisions about jobs that ran", k.late)
	}
}
