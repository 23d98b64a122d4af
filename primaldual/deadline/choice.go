// This file implements the choice of the jobs that a slot plans for: apparent tardiness cost, [Vepsalainen87] §2.

package deadline

import (
	"cmp"
	"math"
	"slices"
)

// patience is the factor k of the apparent tardiness cost: how many mean jobs ahead a deadline is felt. The papers have 1 to 4; here the
// plan sees to it that nothing is late, and the order need not. On windows with values that fall slowly half of 12 loses 0.2 %, a
// quarter 0.5 %, the double nothing (examples/studies/oasis -windows, 20 of each trace from seeds 1000 and 2000).
const patience = 12

// planned is a job in the plan of a slot, in the units of the pool.
type planned struct {
	*held
	unit, left, width int64
	// by is the deadline planned for, in slots from now; 0 where the job is not planned.
	by    int
	level Deadline
	index float64
	given int64 // units in this slot
	// granted: it is promised its level if it starts in this slot.
	granted bool
}

// plan returns the jobs in the order of their index, first those with a promise, each with the first of its deadlines that
// it can meet beside those before it; and the demand of the planned ones. O(n (log n + deadlines x slots)).
func (s *Scheduler) plan() ([]*planned, *demand) {
	jobs := s.waiting()
	total := newDemand(s.pool.capacity, s.reach(jobs))
	for _, j := range jobs {
		for _, level := range s.levels(j) {
			if by := s.from(level.By); total.take(j.left, j.width, by) {
				j.by, j.level = by, level
				break
			}
		}
	}
	return jobs, total
}

// waiting returns the jobs that are there, by promise and index.
func (s *Scheduler) waiting() []*planned {
	out := make([]*planned, 0, len(s.jobs))
	work := 0.0
	for _, h := range s.jobs {
		p := s.measure(h)
		if p.width == 0 {
			continue // no worker fits
		}
		work += float64(p.left)
		out = append(out, p)
	}
	scale := patience * work / float64(max(1, len(out))) / float64(s.pool.capacity)
	for _, p := range out {
		p.index = s.index(p, scale)
	}
	slices.SortStableFunc(out, func(a, b *planned) int {
		if promised := cmp.Compare(a.rank(), b.rank()); promised != 0 {
			return promised
		}
		return cmp.Compare(b.index, a.index)
	})
	return out
}

func (s *Scheduler) measure(h *held) *planned {
	p := &planned{held: h, unit: s.pool.unit(h.Worker)}
	p.left = h.Left * p.unit
	if h.Before == 0 {
		p.left += int64(math.Ceil(s.options.ChangeLoss*float64(min(h.Left, h.Width)))) * p.unit
	}
	p.width = min(h.Width, s.pool.capacity/p.unit) * p.unit
	return p
}

// rank sorts promised jobs before all others.
func (p *planned) rank() int {
	if p.Promise != nil {
		return 0
	}
	return 1
}

// levels returns the deadlines that a job may be planned for: its promise, or those that it can meet alone.
func (s *Scheduler) levels(p *planned) []Deadline {
	if p.Promise != nil {
		return []Deadline{*p.Promise}
	}
	end := s.earliest(p)
	i := 0
	for i < len(p.Deadlines) && p.Deadlines[i].By < end {
		i++
	}
	return p.Deadlines[i:]
}

// earliest returns the slot in which a job ends at the earliest.
func (s *Scheduler) earliest(p *planned) int { return s.slot + int((p.left-1)/p.width) }

// index returns what a unit of a job's work is worth now: its value over what is left, and with several deadlines the sum of
// what is lost at each, weighed exp(-(time to spare)/scale), over what is left.
func (s *Scheduler) index(p *planned, scale float64) float64 {
	levels, end := s.levels(p), s.earliest(p)
	if len(levels) < 2 {
		return worth(levels) / float64(p.left)
	}
	sum := 0.0
	for k, level := range levels {
		lost := level.Value - worth(levels[k+1:])
		sum += float64(lost * math.Exp(-(float64(level.By)-float64(end))/scale))
	}
	return sum / float64(p.left)
}

// worth returns the value of the first deadline, 0 where there is none.
func worth(levels []Deadline) float64 {
	if len(levels) == 0 {
		return 0
	}
	return levels[0].Value
}
