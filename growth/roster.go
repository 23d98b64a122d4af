// This file implements the set of containers on a worker and the comparison of that set with the
// one before, [Zheng] Algorithm 2 (listener).

package growth

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// roster holds the containers of the newest step with a state of type T each, sorted by id: the
// order in which sums are taken and results are listed, whatever the order of the input.
type roster[T any] struct {
	members []member[T]
	index   map[string]int // from id to the position in members
	where   []int          // from the position in the input to the position in members
	arrived []string       // ids that are new in this step, sorted
	left    []member[T]    // members that are gone in this step, sorted
	step    uint64
}

type member[T any] struct {
	id    string
	step  uint64 // the newest step that named it
	state *T
}

// match makes the roster hold the n containers that id lists, and fills where, arrived and left;
// fresh makes the state of a new container. An empty or repeated id is an error that leaves the
// members as they were. It allocates only where the set changed or grew. O(n) where the set is
// the same, O(n log n) otherwise.
func (r *roster[T]) match(n int, id func(i int) string, fresh func() *T) error {
	if err := r.locate(n, id); err != nil {
		return err
	}
	r.left = r.left[:0]
	for _, m := range r.members {
		if m.step != r.step {
			r.left = append(r.left, m)
		}
	}
	if len(r.arrived) == 0 && len(r.left) == 0 {
		return nil
	}
	r.rebuild(fresh)
	for i := range n {
		r.where[i] = r.index[id(i)]
	}
	return nil
}

// locate fills where (-1: new) and arrived, and stamps the members that are still there.
func (r *roster[T]) locate(n int, id func(i int) string) error {
	var faults apportion.Faults
	r.step++
	r.where, r.arrived = r.where[:0], r.arrived[:0]
	for i := range n {
		name := id(i)
		m := r.find(i, name)
		r.where = append(r.where, m)
		switch {
		case name == "":
			faults.Add(check.Item("container", name, i), "ID", apportion.ErrEmpty, "")
		case m < 0:
			r.arrived = append(r.arrived, name)
		case r.members[m].step == r.step:
			faults.Add(check.Item("container", name, i), "ID", apportion.ErrDuplicate, strconv.Quote(name))
		default:
			r.members[m].step = r.step
		}
	}
	slices.Sort(r.arrived)
	for i, name := range r.arrived {
		if i > 0 && name == r.arrived[i-1] {
			faults.Add(check.Item("container", name, i), "ID", apportion.ErrDuplicate, strconv.Quote(name))
		}
	}
	return faults.Err()
}

// find returns the position of a member, or -1. A caller that lists the containers by id, or in
// the same order of a subset, is answered without the map.
func (r *roster[T]) find(guess int, name string) int {
	if guess < len(r.members) && r.members[guess].id == name {
		return guess
	}
	if m, ok := r.index[name]; ok {
		return m
	}
	return -1
}

// rebuild removes who left, inserts who arrived, and indexes anew.
func (r *roster[T]) rebuild(fresh func() *T) {
	r.members = slices.DeleteFunc(r.members, func(m member[T]) bool { return m.step != r.step })
	for _, id := range r.arrived {
		r.members = append(r.members, member[T]{id: id, step: r.step, state: fresh()})
	}
	slices.SortFunc(r.members, func(a, b member[T]) int { return cmp.Compare(a.id, b.id) })
	if r.index == nil {
		r.index = make(map[string]int, len(r.members))
	}
	clear(r.index)
	for m := range r.members {
		r.index[r.members[m].id] = m
	}
}

// get returns the state of a container, or nil.
func (r *roster[T]) get(id string) *T {
	if m, ok := r.index[id]; ok {
		return r.members[m].state
	}
	return nil
}
