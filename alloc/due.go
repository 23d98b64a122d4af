// This file counts what is let in past an application that was refused, and says from when on it is due, [Program §8], point 1.

package alloc

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

const (
	// defaultPatience is how many times its own least counts an application lets others pass; before records had version 6 it was
	// firstPatience. Jobs of 1 to 32 of 64 GPUs at loads of 0.8 and 1 (BenchmarkWidths): of 200 streams beyond those of the benchmark the
	// longest wait of a job of 32 is 0.93 and 0.93 of first in, first out at 1, 1.05 and 0.94 at 2, where the mean of all waits is 4 and
	// 6 % shorter. The mean of the longest of each stream is longer than first in, first out with any: 1.14 and 1.08 times at 1, 1.10 and
	// 1.06 at 0, where the mean wait is 6 % longer and half as much again or more is kept free.
	defaultPatience, firstPatience = 1, 2
	// widest is the part of the cluster that counts of an application that needs more: no two of that size fit beside each other.
	widest = 0.5
)

// patience returns how much may be let in past the application of entry i until it is due, in parts of the cluster.
func (r *resolved) patience(i int) float64 {
	times := r.problem.Options.patience()
	if r.version < ownSizePasses && r.problem.Options.Patience == nil {
		times = firstPatience
	}
	return times * min(widest, r.own(i))
}

// patience returns how many times its own least counts an application lets others pass.
func (o *Options) patience() float64 {
	if o.Patience != nil {
		return *o.Patience
	}
	return defaultPatience
}

// own returns the least counts of the application of entry i, as a part of the cluster: of its first option that the empty cluster
// could hold. 0 where there is none.
func (r *resolved) own(i int) float64 {
	fitting := r.fitting(i)
	if len(fitting) == 0 {
		return 0
	}
	app := r.app(fitting[0])
	return app.Delta * float64(app.AtLeast(1))
}

// keepsOrder reports whether anybody is ever due: not by the rules that know no patience.
func (r *resolved) keepsOrder() bool {
	return !r.problem.Options.Paper && r.problem.Options.Order == Fair
}

// overdue returns how much more than its patience was let in past the application of entry i in earlier decisions; due is false where
// it is not due. The longer it has been due, the more that is: all that wait are passed by the same others.
func (r *resolved) overdue(i int) (beyond float64, due bool) {
	passed := r.problem.Applications[i].Passed
	if passed <= 0 || !r.keepsOrder() || r.runs(r.of[i]) >= 0 || len(r.fitting(i)) == 0 {
		return 0, false
	}
	beyond = passed - r.patience(i)
	return beyond, beyond >= 0
}

// compareDue orders two applications: the due ones first, and of these those that have been due longest.
func (r *resolved) compareDue(i, v int) int {
	x, due := r.overdue(i)
	y, other := r.overdue(v)
	switch {
	case due && other:
		return cmp.Compare(y, x)
	case due:
		return -1
	case other:
		return 1
	}
	return 0
}

// refusedFirst is the first of a leaf that was refused: the application, by its position in the given problem, and how much had been let in by then.
type refusedFirst struct {
	o    int
	then float64
}

// letIn notes that application i was taken in: what was reserved for it is free, and of a newcomer its least
// counts pass all that were refused before.
func (a *admission) letIn(i int) {
	a.release(i)
	if a.r.runs(a.r.of[i]) >= 0 {
		return
	}
	e := a.r.inUse(a.r.of[i], a.counts)
	app := a.r.app(e)
	a.entered += float64(app.Delta * float64(app.AtLeast(1)))
}

// refuse notes that application i is refused. The first of each leaf that is refused for room is passed by all that follow.
func (a *admission) refuse(i int) {
	q := a.r.leaf[i]
	if _, known := a.first[q]; !known && len(a.r.fitting(i)) > 0 {
		a.first[q] = refusedFirst{a.r.of[i], a.entered}
	}
}

// passedBy returns how much has been let in past application o so far, with this decision, in which so much has grown.
func (a *admission) passedBy(o int, grown float64) float64 {
	passed := a.r.handed(o)
	if first, known := a.first[a.r.leaf[a.r.entries[o][0]]]; known && first.o == o && a.r.keepsOrder() {
		passed += a.entered - first.then + grown
	}
	return passed
}

// handed returns what earlier decisions have let in past application o; 0 where it ran, since then.
func (r *resolved) handed(o int) float64 {
	if r.runs(o) >= 0 || !r.keepsOrder() {
		return 0
	}
	return r.given.Applications[o].Passed
}

// grown returns by how much the applications that ran have grown, as parts of the cluster: that passes others like what is let in.
func (r *resolved) grown(counts solver.Counts) float64 {
	var sum float64
	for o := range r.entries {
		e := r.runs(o)
		if e < 0 {
			continue
		}
		now := r.inUse(o, counts)
		app, before := r.app(now), r.app(e)
		sum += max(0, float64(app.Delta*float64(solver.Containers(counts[now])))-float64(before.Delta*float64(solver.Containers(r.previous[e]))))
	}
	return sum
}

// mostPassed returns the most that a decision with these counts may have let in past anybody. A newcomer may have been let in with another
// of its options than it has in the end.
func (r *resolved) mostPassed(counts solver.Counts) float64 {
	sum := r.grown(counts)
	for o, options := range r.entries {
		if r.runs(o) >= 0 {
			continue
		}
		most := 0.0
		for _, e := range options {
			app := r.app(e)
			most = max(most, app.Delta*float64(max(0, app.AtLeast(1))))
		}
		sum += most
	}
	return sum
}

// dueFirst lists the applications of list that are due, those that have been so longest first, and of equals in their order.
func (r *resolved) dueFirst(list []int) []int {
	var due []int
	for _, i := range list {
		if _, is := r.overdue(i); is {
			due = append(due, i)
		}
	}
	slices.SortStableFunc(due, r.compareDue)
	return due
}
