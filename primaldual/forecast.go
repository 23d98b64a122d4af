// This file implements forecast: the load to expect, learnt from the jobs offered so far. It is no part of
// [OASiS], which knows all jobs in advance.
// It knows no single job to come, only how much load of which worth came so far. Worth and load are
// both positive, as jobs without either say nothing of what room is worth.

package primaldual

import (
	"math"
	"slices"
)

// forecast keeps what was offered, by worth a unit of load, and forgets it exponentially: memory slots after its
// arrival a job counts for 1/e of itself. A unit of load is one slot of the whole cluster, see park.share.
//
// Jobs whose worth a unit of load differs by less than an eighth of an octave share a bucket, so that memory depends on
// the range of that worth and not on the number of jobs.
type forecast struct {
	memory  float64
	since   int // the slot in which counting began
	at      int // the slot up to which buckets have decayed
	buckets []bucket
}

// bucket is the load offered at one level of worth, ascending by level.
type bucket struct {
	level       int
	load, worth float64
}

// octaves is the number of levels in a factor of two of worth a unit of load.
// A level is 9 % wide: wider ones would take unlike jobs for equals, narrower ones only take more memory.
const octaves = 8

// level returns the bucket of a worth a unit of load; positive.
func level(density float64) int { return int(math.Floor(octaves * math.Log2(density))) }

// forgotten is the part of a slot of the cluster below which a bucket is dropped.
// Without it each level that ever occurred would be kept, decayed to denormal numbers that slow
// every sum.
const forgotten = 1e-12

// note adds a job offered in a slot, not before the last one. A job without load or worth says nothing.
func (f *forecast) note(slot int, load, worth float64) {
	f.decay(slot)
	if load <= 0 || worth <= 0 {
		return
	}
	key := level(worth / load)
	// Ascending levels make the sum over all better ones a walk from the end, in the same order in every run.
	i, found := slices.BinarySearchFunc(f.buckets, key, func(b bucket, key int) int { return b.level - key })
	if !found {
		f.buckets = slices.Insert(f.buckets, i, bucket{level: key})
	}
	f.buckets[i].load += load
	f.buckets[i].worth += worth
}

// decay brings all buckets to a slot.
func (f *forecast) decay(slot int) {
	if slot <= f.at {
		return
	}
	// One factor for all: what has come decays alike, so that buckets keep their ratios.
	factor := math.Exp(-float64(slot-f.at) / f.memory)
	f.at = slot
	kept := f.buckets[:0]
	for _, b := range f.buckets {
		b.load, b.worth = b.load*factor, b.worth*factor
		if b.load > forgotten {
			kept = append(kept, b)
		}
	}
	f.buckets = kept
}

// displaced returns the worth that is expected to be turned away if a job takes load out of length slots, of which
// committed slots' worth of the cluster is promised already. Load of jobs that are worth more a unit is expected to
// arrive in this window as it did so far; as far as that finds room without the job and none with it, its mean worth is
// lost. The first memory slots are counted as if nothing had arrived in as many slots before, so that one early job is
// no flood.
func (f *forecast) displaced(slot int, load, worth, committed, length float64) float64 {
	if load <= 0 || worth <= 0 {
		return 0
	}
	key := level(worth / load)
	better := bucket{}
	// Only levels above that of the job count: those in its own bucket are worth about as much, and
	// it is no loss which of them runs.
	for i := len(f.buckets) - 1; i >= 0 && f.buckets[i].level > key; i-- {
		better.load += f.buckets[i].load
		better.worth += f.buckets[i].worth
	}
	if better.load == 0 {
		return 0
	}
	// The sum of the weights of all slots counted so far, as an integral: it ends at twice the memory, half of it made up.
	seen := f.memory + f.memory*(1-math.Exp(-float64(slot-f.since+1)/f.memory))
	// better.load/seen is the load of better jobs a slot, in slots of the whole cluster; length
	// slots bring so much of it.
	expected := better.load / seen * length
	room := length - committed
	// Better load that finds no room even without the job is not lost by it: the difference of the
	// two overflows is the job's doing. lost lies in [0, load].
	lost := max(0, expected-(room-load)) - max(0, expected-room)
	// What is turned away is worth better.worth/better.load a unit, the mean of the better jobs.
	return lost * better.worth / better.load
}
