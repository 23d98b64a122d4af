// This file decides which jobs are promised their deadlines, and which promises a change breaks.

package deadline

import (
	"cmp"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/enum"
)

// Strength says when a job is promised its deadline.
type Strength uint8

// The strengths.
const (
	// Never: no job is promised anything. The default, which earns most.
	Never Strength = iota
	// OnStart: a job that starts ends by the deadline that it is then told. Until then it may be passed over.
	OnStart
	// OnAdmission: a job is promised a deadline when it is offered, or refused: of those that it can meet the last that is worth at least
	// half of its first, where that can be held.
	OnAdmission
)

var strengthTexts = []string{"never", "on start", "on admission"}

// String returns the name of the strength.
func (s Strength) String() string { return enum.String(s, strengthTexts) }

// MarshalText returns the text of String.
func (s Strength) MarshalText() ([]byte, error) { return enum.Marshal(s, strengthTexts) }

// UnmarshalText reads a text of String.
func (s *Strength) UnmarshalText(text []byte) error { return enum.Unmarshal(s, text, strengthTexts) }

// What a promise asks for.
const (
	// memory is the age in slots at which an arrival counts 1/e in the fluid price, forgotten the age at which it is dropped.
	memory, forgotten = 300, 3000
	// A job of at most this part of the least free slack is promised whatever it is worth.
	small = 0.2
	// On admission nothing is known of the jobs to come, and a promise cannot be taken back. Beside other promises a job is therefore to be
	// worth caution times the fluid price, and it is promised the last deadline that keeps lasting of its first value, so that denser
	// ones may go before. On 128 windows from seeds 1000 and 2000 with deadlines, linear and sigmoid values the mean of EDF is
	// 0.973, 0.976, 0.988; without caution 0.969 (0.508 at least in place of 0.636), 0.973, 0.985; with the first deadline 0.973, 0.880,
	// 0.896; with 0.1 in place of small 0.931, 0.984, 1.000, with 0.3 0.979 (0.538 at least), 0.962, 0.970.
	caution, lasting = 1.5, 0.5
)

// arrival is a job that was offered. It is counted in units when it is asked for: they change with the capacity.
type arrival struct {
	Slot   int                 `json:"slot"`
	Work   int64               `json:"work"`
	Worker apportion.Resources `json:"worker"`
	Value  float64             `json:"value"`
}

func (a *arrival) units(p pool) float64 { return float64(a.Work) * float64(p.unit(a.Worker)) }

// fluidPrice returns the density at which the jobs that were offered, the best first, fill the cluster; 0 if they do not. A job of age
// a counts exp(-a/memory), and so does the capacity of its slot. O(n log n).
//
// Source: the fluid relaxation of the knapsack over time, [Dantzig57].
func (s *Scheduler) fluidPrice() float64 {
	type offered struct{ work, density float64 }
	past := make([]offered, len(s.arrivals))
	for i := range s.arrivals {
		a := &s.arrivals[i]
		work := a.units(s.pool)
		past[i] = offered{float64(work * math.Exp(-float64(s.slot-a.Slot)/memory)), a.Value / work}
	}
	slices.SortStableFunc(past, func(a, b offered) int { return cmp.Compare(b.density, a.density) })
	q := math.Exp(-1.0 / memory)
	room := float64(s.pool.capacity) * (1 - math.Pow(q, float64(s.slot-s.start+1))) / (1 - q)
	for _, a := range past {
		if room -= a.work; room <= 0 {
			return a.density
		}
	}
	return 0
}

// reserve returns the capacity out of which promises are made to jobs: what rounding to whole workers can cost less.
func (s *Scheduler) reserve(jobs []*planned) int64 {
	most, common := int64(0), int64(0)
	for _, j := range jobs {
		most, common = max(most, j.unit), gcd(j.unit, common)
	}
	if common == 0 {
		return s.pool.capacity
	}
	return max(0, s.pool.capacity/common*common-(most-common))
}

// promised returns the promised jobs, their demand, and those whose promise it cannot hold: the least index goes first.
func (s *Scheduler) promised(jobs []*planned) (firm []*planned, d *demand, broken []*planned) {
	for _, j := range jobs {
		if j.Promise != nil {
			j.by, j.level = s.from(j.Promise.By), *j.Promise
			firm = append(firm, j)
		}
	}
	d, broken = s.together(firm, s.reach(jobs))
	return firm, d, broken
}

// together returns the demand of firm jobs out of the reserve, and those that do not fit.
func (s *Scheduler) together(firm []*planned, slots int) (d *demand, broken []*planned) {
	d = newDemand(s.reserve(firm), slots)
	for _, j := range firm {
		if !d.take(j.left, j.width, j.by) {
			broken = append(broken, j)
		}
	}
	return d, broken
}

// join returns the demand of firm jobs with one more, and whether all fit. Where its workers need a larger reserve, all are
// tried anew.
func (s *Scheduler) join(firm []*planned, d *demand, j *planned) (*demand, bool) {
	with := append(slices.Clip(firm), j)
	if s.reserve(with) == d.capacity {
		return d, d.take(j.left, j.width, j.by)
	}
	if next, broken := s.together(with, len(d.free)); len(broken) == 0 {
		return next, true
	}
	return d, false
}

// earns reports whether a job may be promised a deadline beside others: it is worth the price, or small.
func earns(j *planned, level Deadline, d *demand, price float64) bool {
	return level.Value/float64(j.left) >= price || float64(j.left) <= float64(small*float64(d.slack(j.by)))
}

// firm reports whether a job has a promise, or is to have one with its first worker.
func (p *planned) firm() bool { return p.Promise != nil || p.granted }

// grant marks the planned jobs that a scheduler that promises on start may let start, and returns the demand of what is firm.
func (s *Scheduler) grant(jobs []*planned) *demand {
	firm, d, _ := s.promised(jobs)
	if s.options.Promise != OnStart {
		return d
	}
	price := s.fluidPrice()
	for _, j := range jobs {
		if j.Promise != nil || j.by == 0 || !earns(j, j.level, d, price) {
			continue
		}
		if d, j.granted = s.join(firm, d, j); j.granted {
			firm = append(firm, j)
		}
	}
	return d
}

// repair takes back the promises that cannot be held and returns them.
func (s *Scheduler) repair() []Broken {
	_, _, jobs := s.promised(s.waiting())
	for _, h := range s.jobs {
		if h.Promise != nil && s.measure(h).width == 0 {
			jobs = append(jobs, s.measure(h))
		}
	}
	var out []Broken
	for _, j := range jobs {
		out = append(out, Broken{ID: j.ID, Deadline: *j.Promise})
		j.Promise = nil
	}
	return out
}
