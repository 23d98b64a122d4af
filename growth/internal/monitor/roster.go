// This file implements the set of jobs on a worker and the comparison of that set with the one
// before, [Zheng] Algorithm 2 (listener).

package monitor

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// Roster holds the jobs of the newest step with a state of type T each, sorted by id: the
// order in which sums are taken and results are listed, whatever the order of the input.
type Roster[T any] struct {
	// Members are the jobs, by id.
	Members []Member[T]
	// Where holds the position in Members of each job of the input.
	Where []int
	// Arrived are the ids that are new in this step, Left the members that are gone, both sorted.
	Arrived []string
	Left    []Member[T]

	index map[string]int // from an id to the position in Members
	step  uint64
}

// Member is one job. Its State stays the same value for as long as the job is there, so a caller may
// keep the pointer.
type Member[T any] struct {
	ID    string
	State *T
	step  uint64 // the newest step that named it
}

// find returns the position of the member of that name, or -1; guess is its position in the input. A caller that lists
// the jobs by id, or in the same order of a subset, is answered without the map.
func (r *Roster[T]) find(guess int, name string) int {
	if guess < len(r.Members) && r.Members[guess].ID == name {
		return guess
	}
	if m, ok := r.index[name]; ok {
		return m
	}
	return -1
}

// locate compares the input with the members of the step before, without changing them: it fills Where
// (-1: new) and Arrived, and stamps the members that are still there.
func (r *Roster[T]) locate(n int, id func(i int) string) error {
	var faults apportion.Faults
	// A step that fails has stamped members too; the next one counts on, so old stamps mean nothing.
	r.step++
	r.Where, r.Arrived = r.Where[:0], r.Arrived[:0]
	for i := range n {
		name := id(i)
		m := r.find(i, name)
		// Where has an entry even for a faulty job, so that positions stay those of the input.
		r.Where = append(r.Where, m)
		switch {
		case name == "":
			faults.Add(check.Item("job", name, i), "ID", apportion.ErrEmpty, "")
		case m < 0:
			r.Arrived = append(r.Arrived, name)
		case r.Members[m].step == r.step:
			faults.Add(check.Item("job", name, i), "ID", apportion.ErrDuplicate, strconv.Quote(name))
		default:
			r.Members[m].step = r.step
		}
	}
	slices.Sort(r.Arrived)
	if len(slices.Compact(slices.Clone(r.Arrived))) == len(r.Arrived) {
		return faults.Err()
	}
	// Sorted names have lost their places in the input, which a fault must tell.
	seen := make(map[string]bool)
	for i := range n {
		if name := id(i); r.Where[i] < 0 && name != "" {
			if seen[name] {
				faults.Add(check.Item("job", name, i), "ID", apportion.ErrDuplicate, strconv.Quote(name))
			}
			seen[name] = true
		}
	}
	return faults.Err()
}

// rebuild removes who left, inserts who arrived, each with a fresh state, and indexes anew. The members
// are sorted by ID afterwards. O(n log n).
func (r *Roster[T]) rebuild(fresh func() *T) {
	r.Members = slices.DeleteFunc(r.Members, func(m Member[T]) bool { return m.step != r.step })
	for _, id := range r.Arrived {
		r.Members = append(r.Members, Member[T]{ID: id, State: fresh(), step: r.step})
	}
	slices.SortFunc(r.Members, func(a, b Member[T]) int { return cmp.Compare(a.ID, b.ID) })
	if r.index == nil {
		r.index = make(map[string]int, len(r.Members))
	}
	// Positions have moved, so the index is written anew rather than corrected.
	clear(r.index)
	for m := range r.Members {
		r.index[r.Members[m].ID] = m
	}
}

// Remove takes a job out between two steps, for a caller that is told of exits one by one; the next Match finds that nobody has left.
func (r *Roster[T]) Remove(id string) (state *T, ok bool) {
	at, ok := r.index[id]
	if !ok {
		return nil, false
	}
	state = r.Members[at].State
	r.Members = slices.Delete(r.Members, at, at+1)
	delete(r.index, id)
	for i := at; i < len(r.Members); i++ {
		r.index[r.Members[i].ID] = i
	}
	return state, true
}

// Match makes the roster hold the n jobs that id lists, and fills Where, Arrived and Left;
// fresh makes the state of a new job. An empty or repeated id is an error that leaves the
// members as they were. It allocates only where the set changed or grew. O(n) where the set is
// the same, O(n log n) otherwise.
func (r *Roster[T]) Match(n int, id func(i int) string, fresh func() *T) error {
	// Nothing has changed before all of the input is known to be good.
	if err := r.locate(n, id); err != nil {
		return err
	}
	r.Left = r.Left[:0]
	for _, m := range r.Members {
		if m.step != r.step {
			r.Left = append(r.Left, m)
		}
	}
	if len(r.Arrived) == 0 && len(r.Left) == 0 {
		return nil
	}
	r.rebuild(fresh)
	for i := range n {
		r.Where[i] = r.index[id(i)]
	}
	return nil
}

// Get returns the state of a job, or nil where there is no such job. The state is the roster's own: a
// caller that changes it changes what the next step sees.
func (r *Roster[T]) Get(id string) *T {
	if m, ok := r.index[id]; ok {
		return r.Members[m].State
	}
	return nil
}
