// This file implements History, the decayed mean use of queues, [Kay88] §4.

package drf

import (
	"maps"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// History is what queues have used lately: of each kind the mean over all time, in which use that is one half-life older
// counts half. It gives [Queue].Usage, by which a queue that had much is served later for a while; guarantees and ceilings do
// not look at it. It reads no clock: [History.Advance] is told how much time has passed, in the unit of the half-life.
//
// Where one of two queues of equal weight was alone on 32 GPUs for a week, the other one has of them, with a half-life of one day and in
// the mean of a day after it comes:
//
//	jobs of	day 1	day 2	day 3	day 5
//	1 h	24.8	18.1	16.4	16.0
//	72 h	5.2	15.9	22.0	15.0
//	1 h, 12 guaranteed to each	20.0	19.1	16.8	16.0
//
// A mean has 40 bits behind the point, the factor of an interval 62, each rounded to nearest. Against arithmetic without
// rounding it is off by less than (2^-41 + n 2^-63)/(1-f) for amounts up to n and factors up to f, after any number of intervals:
// what is lost decays with the rest. At an interval of a second and a half-life of a day that is 6e-8 units.
//
// Two histories that were told the same give the same numbers, on every machine. Methods that change a History need it alone.
//
// Source: J. Kay, P. Lauder. A fair share scheduler. 1988.
type History struct {
	halfLife int64
	kinds    apportion.Kinds // numbers, for messages
	// means has one mean a kind for each queue that has any.
	means map[string][]mean
}

// NewHistory returns a history of so many kinds in which nothing was used. halfLife is in any unit of time, and positive.
// The error is [apportion.Faults] (ErrEmpty, ErrRange).
func NewHistory(kinds int, halfLife int64) (*History, error) {
	var faults apportion.Faults
	if kinds <= 0 {
		faults.Add(apportion.Item{}, "Kinds", apportion.ErrEmpty, strconv.Itoa(kinds))
	}
	if halfLife <= 0 {
		faults.Add(apportion.Item{}, "HalfLife", apportion.ErrRange, strconv.FormatInt(halfLife, 10)+" is not positive")
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	h := &History{halfLife: halfLife, kinds: make(apportion.Kinds, kinds), means: make(map[string][]mean)}
	for k := range h.kinds {
		h.kinds[k] = strconv.Itoa(k)
	}
	return h, nil
}

// Advance says what queues have used during an interval that has passed, one quantity a kind, by the IDs of the queues: those
// that have queues below them as well, as the answers of [Tree.Fill] and of package alloc list them. A queue that is not named used
// nothing; one that has gone for good is forgotten once it counts for nothing, and one that comes has used nothing before.
// An interval that is so short that its factor rounds to 1, below 1e-19 half-lives, changes nothing.
//
// On an error nothing changes. It is [apportion.Faults]: a negative interval or quantity (ErrNegative), an empty ID, a vector of
// the wrong length (ErrLength). O(K q).
func (h *History) Advance(interval int64, used map[string]apportion.Resources) error {
	if err := h.checkAdvance(interval, used); err != nil {
		return err
	}
	keep := keeps(interval, h.halfLife)
	if keep == whole62 {
		return nil
	}
	for id, amounts := range used {
		if h.means[id] == nil && !amounts.IsZero() {
			h.means[id] = make([]mean, len(h.kinds))
		}
	}
	// Every queue has sums of its own, so that the order of the map is no matter.
	for id, means := range h.means {
		amounts, named := used[id]
		for k := range means {
			if named {
				means[k] = blend(means[k], amounts[k], keep)
			} else {
				means[k] = fade(means[k], keep)
			}
		}
		if !slices.ContainsFunc(means, func(m mean) bool { return m != mean{} }) {
			delete(h.means, id)
		}
	}
	return nil
}

// checkAdvance refuses what Advance does. A sound call names nothing.
func (h *History) checkAdvance(interval int64, used map[string]apportion.Resources) error {
	var faults apportion.Faults
	if interval < 0 {
		faults.Add(apportion.Item{}, "Interval", apportion.ErrNegative, strconv.FormatInt(interval, 10))
	}
	if faults != nil || !h.sound(used) {
		for _, id := range slices.Sorted(maps.Keys(used)) {
			item := check.Item("queue", id, 0)
			check.ID(&faults, map[string]bool{}, id, item)
			check.Resources(&faults, h.kinds, used[id], item, "Used")
		}
	}
	return faults.Err()
}

// sound reports whether every queue has a name and amounts of all kinds.
func (h *History) sound(used map[string]apportion.Resources) bool {
	for id, amounts := range used {
		if id == "" || !check.Text(id) || len(amounts) != len(h.kinds) || slices.ContainsFunc(amounts, func(q int64) bool { return q < 0 }) {
			return false
		}
	}
	return true
}

// Charge returns the queues with the Usage that they have: the largest part of capacity that their mean use is of any kind. A
// kind of which there is none does not count. The error is [apportion.Faults]: a capacity of the wrong length (ErrLength) or
// with a negative quantity. O(K q).
func (h *History) Charge(queues []Queue, capacity apportion.Resources) ([]Queue, error) {
	var faults apportion.Faults
	check.Resources(&faults, h.kinds, capacity, apportion.Item{}, "Capacity")
	if err := faults.Err(); err != nil {
		return nil, err
	}
	charged := slices.Clone(queues)
	for i := range charged {
		charged[i].Usage = 0
		for k, m := range h.means[charged[i].ID] {
			if capacity[k] > 0 {
				units, parts := split40(m)
				charged[i].Usage = max(charged[i].Usage, (float64(units)+float64(float64(parts)*0x1p-40))/float64(capacity[k]))
			}
		}
	}
	return charged, nil
}

// split40 returns the units of a mean and its parts of 2^-40.
func split40(m mean) (units, parts int64) {
	return int64(m.hi<<(64-meanBits) | m.lo>>meanBits), int64(m.lo & (1<<meanBits - 1))
}
