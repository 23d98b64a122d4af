// This file holds Learning and learner: prices that are learnt online from the load offered, with a safeguard, in
// place of bounds that are known in advance. It is no part of [OASiS].

package primaldual

import (
	"math"
	"strconv"

	"github.com/apportion/apportion"
)

// Learning says how a scheduler without bounds learns. nil in SchedulerOptions: prices follow from bounds, as in the
// paper. The zero value is the recommended setting.
type Learning struct {
	// Memory is the number of slots after which an arrival counts for 1/e in the load to expect; 0 means 72, half
	// a day of ten minutes each. Negative is ErrNegative.
	Memory int
	// Revise is the most admitted jobs whose future slots one decision may plan again, so that a new job finds
	// room; each keeps its promise. 0 means all of them, negative none.
	Revise int
	// Refuse is the most worth that may be refused for its price or displaced, as a multiple of the worth admitted and
	// not displaced; what would exceed it is admitted whatever the price, and keeps its place. 0 means 1, negative none.
	Refuse float64
	// Displace is the factor, at least 1, by which a job that finds no room must be worth more, for each unit of load,
	// than what is left of a job that loses its place to it. 0: nobody loses his place, every promise is kept. 2 is
	// recommended where jobs may be stopped: it frees at least half of what is taken for the same worth. Below 1 jobs would
	// displace each other in turn: ErrRange.
	Displace float64
}

const (
	defaultMemory = 72
	defaultRefuse = 1.0
	// caution is the part of the worth that a job is expected to displace which it must be worth: forecasts from a
	// few bursts are poor, and work that is refused for jobs that never come is lost for certain.
	caution = 0.1
	// whale is the part of all capacity of its window below which a job is never refused for its price.
	whale = 1.0 / 3
	// idle is the part of the capacity of its window that must be promised before a job is refused for its price.
	idle = 0.05
)

// learner is the state of learning: the load to expect, and the account of the safeguard.
type learner struct {
	Learning
	forecast forecast
	// admitted is the worth of all jobs admitted and not displaced, refused that of the jobs refused for their price or
	// displaced.
	admitted, refused float64
}

// newLearner checks the options, fills in the defaults and returns a learner that has seen nothing.
func newLearner(options *Learning, slot int) (*learner, error) {
	l := &learner{Learning: *options}
	switch {
	case l.Memory < 0:
		return nil, &apportion.FieldError{Item: apportion.Item{ID: "options"}, Field: "Learn.Memory", Err: apportion.ErrNegative, Detail: strconv.Itoa(l.Memory)}
	case math.IsNaN(l.Refuse) || math.IsInf(l.Refuse, 0):
		return nil, &apportion.FieldError{Item: apportion.Item{ID: "options"}, Field: "Learn.Refuse", Err: apportion.ErrNotFinite, Detail: formatFloat(l.Refuse)}
	case math.IsNaN(l.Displace) || math.IsInf(l.Displace, 0):
		return nil, &apportion.FieldError{Item: apportion.Item{ID: "options"}, Field: "Learn.Displace", Err: apportion.ErrNotFinite, Detail: formatFloat(l.Displace)}
	case l.Displace != 0 && l.Displace < 1:
		return nil, &apportion.FieldError{Item: apportion.Item{ID: "options"}, Field: "Learn.Displace", Err: apportion.ErrRange, Detail: formatFloat(l.Displace)}
	}
	if l.Memory == 0 {
		l.Memory = defaultMemory
	}
	if l.Refuse == 0 {
		l.Refuse = defaultRefuse
	}
	// Time before the first slot counts as without arrivals, see displaced.
	l.forecast = forecast{memory: float64(l.Memory), since: slot, at: slot}
	return l, nil
}

// window is the stretch of slots that a job may use, with its load and what is promised there.
type window struct {
	load      float64 // of the job, in slots of the whole cluster
	length    float64 // slots
	committed float64 // of the jobs admitted, in slots of the whole cluster
}

// price returns what a job pays for its window: a part of the worth that it is expected to displace, and nothing for one
// that takes a small part of its window or finds it idle.
func (l *learner) price(slot int, w window, worth float64) float64 {
	// A job that takes little of its window leaves room for better ones, and an idle window has it beside any.
	if w.load < whale*w.length || w.committed < idle*w.length {
		return 0
	}
	// Not the whole of it: what is refused is lost for certain, what is expected may never come.
	return caution * l.forecast.displaced(slot, w.load, worth, w.committed, w.length)
}

// mayRefuse reports whether the account allows a worth to be refused for its price.
//
// That is the safeguard: admitted >= refused/Refuse after every decision, so that a run is worth at least
// 1/(1 + Refuse) of all jobs together that found room when they came.
func (l *learner) mayRefuse(worth float64) bool {
	// A negative Refuse stands for none: the first factor says so, as the second could hold for a
	// worth of 0.
	return l.Refuse > 0 && l.refused+worth <= l.Refuse*l.admitted
}

// mayDisplace reports whether the account allows a worth to be displaced for another. What is displaced was admitted.
// Both sums are taken as they will be: lost goes from admitted to refused, and worth comes to
// admitted.
func (l *learner) mayDisplace(lost, worth float64) bool {
	return l.Refuse > 0 && l.refused+lost <= l.Refuse*(l.admitted-lost+worth)
}

// write appends the state of learning, or that there is none.
func (l *learner) write(w *writer) {
	if l == nil {
		w.int(0)
		return
	}
	// The sums and the buckets are written bit for bit: a rounded account could decide otherwise
	// after a restart than it would have done.
	w.int(1)
	w.float(l.admitted)
	w.float(l.refused)
	w.int(int64(l.forecast.since))
	w.int(int64(l.forecast.at))
	w.int(int64(len(l.forecast.buckets)))
	for _, b := range l.forecast.buckets {
		w.int(int64(b.level))
		w.float(b.load)
		w.float(b.worth)
	}
}

// read reads what write wrote. A snapshot of the other sort is ErrConflict.
func (l *learner) read(r *reader) error {
	if learns := r.intIn(0, 1) == 1; !r.failed && learns != (l != nil) {
		return &apportion.FieldError{Item: apportion.Item{ID: "options"}, Field: "Learn", Err: apportion.ErrConflict, Detail: "the snapshot was made with the other sort of prices"}
	}
	if l == nil {
		return nil
	}
	l.admitted, l.refused = r.float(), r.float()
	// Buckets must ascend, as note and displaced search and walk them by level.
	f := &l.forecast
	f.since, f.at = int(r.intIn(1, maxSlot)), int(r.intIn(1, maxSlot))
	f.buckets = make([]bucket, r.count())
	for i := range f.buckets {
		b := bucket{int(r.intIn(-maxSlot, maxSlot)), r.float(), r.float()}
		if i > 0 && b.level <= f.buckets[i-1].level || !(b.load > 0) || !(b.worth > 0) || math.IsInf(b.load+b.worth, 0) {
			r.fail()
			return nil
		}
		f.buckets[i] = b
	}
	// Written as !(x >= 0), the test also refuses what is not a number, for which no inequality of
	// the safeguard would hold.
	if !(l.admitted >= 0) || !(l.refused >= 0) || math.IsInf(l.admitted+l.refused, 0) {
		r.fail()
	}
	return nil
}
