// This file says for whom room is reserved, and who may be put there all the same, [Program §8], points 2 and 6.

package alloc

import (
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// reservations returns for how many applications room is reserved at most.
func (r *resolved) reservations() int64 {
	if stated := r.problem.Options.Reservations; stated != nil {
		return *stated
	}
	return 1
}

// had returns what the last decision had reserved for the application of entry i, as far as it still is here; nil: nothing.
func (r *resolved) had(i int) *reserved {
	id := r.given.Applications[r.of[i]].ID
	at := slices.IndexFunc(r.problem.Reservations, func(v Reservation) bool { return v.ID == id })
	if at < 0 {
		return nil
	}
	named, v := &r.problem.Reservations[at], &reserved{i: i}
	v.servers, _ = placements(named.Servers, serverIndex(r.problem.Servers))
	positions := appIndex(r.given.Applications)
	for _, id := range named.For {
		if w := r.named(positions, id); w >= 0 {
			v.waits = append(v.waits, w)
		}
	}
	slices.Sort(v.waits)
	v.waits = slices.Compact(v.waits)
	// More than fit there is no reservation of ours.
	if slices.ContainsFunc(v.servers, func(p apportion.Placement) bool {
		return p.Count > r.most(i, p.Server, r.problem.Servers[p.Server].Capacity)
	}) {
		return nil
	}
	return v
}

// stood returns the place of the application of entry i among those for which the last decision had reserved something, else behind them.
func (r *resolved) stood(i int) int {
	at := slices.IndexFunc(r.problem.Reservations, func(v Reservation) bool { return v.ID == r.given.Applications[r.of[i]].ID })
	if at < 0 {
		return len(r.problem.Reservations)
	}
	return at
}

// reserve keeps room for applications that are due and wait, one of each leaf, as many as may have it: first those that stay within
// their guarantees, then those that have had it, in the same order, so that none has to wait for more, then those that have been due
// longest, then by submission.
func (t *turn) reserve() {
	for int64(len(t.reserved)) < t.r.reservations() {
		i := t.nextHolder()
		if i < 0 {
			return
		}
		t.tried[i] = true
		if e := t.r.fitting(i); len(e) > 0 {
			if v := t.soonestInDomains(e[0], t.r.had(i)); v != nil {
				t.draft.reserved = append(t.draft.reserved, v)
			}
		}
	}
}

// nextHolder returns for whom room is to be reserved next, or -1.
func (t *turn) nextHolder() int {
	best, within := -1, false
	for _, i := range t.due {
		if t.in[i] || t.tried[i] || slices.ContainsFunc(t.reserved, func(v *reserved) bool { return t.r.leaf[v.i] == t.r.leaf[i] }) {
			continue
		}
		// Those that are due are in the order of how long they have been, and then of submission.
		mine := t.within(i, max(0, t.draft.least(i)))
		if best < 0 || mine && !within || mine == within && t.r.stood(i) < t.r.stood(best) {
			best, within = i, mine
		}
	}
	return best
}

// holder returns the first application with a reservation that has not been asked yet, of those with which their queues stay within
// their guarantees or of the others; -1: there is none.
func (t *turn) holder(within bool) int {
	for _, v := range t.reserved {
		first := t.r.options(v.i)[0]
		if t.r.runs(t.r.of[first]) < 0 && !t.asked[first] && t.within(first, max(0, t.draft.least(first))) == within {
			return first
		}
	}
	return -1
}

// release ends the reservation of the application of entry i, which is in.
func (d *draft) release(i int) {
	d.reserved = slices.DeleteFunc(slices.Clone(d.reserved), func(v *reserved) bool { return d.r.of[v.i] == d.r.of[i] })
}

// breakable lists the reservations that application i may break, which stays within its guarantee: those for others that would not, at
// the fork.
func (d *draft) breakable(i int) []*reserved {
	n := max(0, d.least(i))
	if len(d.reserved) == 0 || !d.within(i, n) {
		return nil
	}
	var list []*reserved
	for _, v := range d.reserved {
		if a, b := d.r.fork(i, v.i); a > 0 && d.holds(a, i, n) && !d.holds(b, v.i, max(0, d.least(v.i))) && d.respects(v, i) {
			list = append(list, v)
		}
	}
	return list
}

// breakIn takes application i in on what is reserved for others, if it may; the reservations are made anew. Where it returns false
// nothing has changed.
func (a *admission) breakIn(i int) bool {
	if a.lifted = a.breakable(i); a.lifted == nil {
		return false
	}
	done := a.admit(i) || a.reclaimLeast(i)
	lifted := a.lifted
	a.lifted = nil
	if done {
		for _, v := range lifted {
			a.broken[a.r.of[v.i]] = i
		}
		a.renew()
	}
	return done
}

// renew chooses anew what is reserved, for the same applications; what cannot be had any more is not.
func (d *draft) renew() {
	list := d.reserved
	d.reserved = nil
	for at, v := range list {
		// The others keep theirs meanwhile.
		others := d.reserved
		d.reserved = append(slices.Clone(others), list[at+1:]...)
		again := d.soonestInDomains(v.i, v)
		if d.reserved = others; again != nil {
			d.reserved = append(d.reserved, again)
		}
	}
}

// reservation names what is reserved, as a decision has it.
func (r *resolved) reservation(v *reserved) Reservation {
	apps := r.given.Applications
	named := Reservation{ID: apps[r.of[v.i]].ID}
	for _, p := range v.servers {
		if named.Servers == nil {
			named.Servers = make(map[string]int64, len(v.servers))
		}
		named.Servers[r.problem.Servers[p.Server].ID] = p.Count
	}
	if at := v.at; !math.IsInf(at, 1) {
		named.At = &at
	}
	for _, w := range v.waits {
		named.For = append(named.For, apps[r.of[w]].ID)
	}
	return named
}

// setReserved takes over what is reserved from a decision with these counts, and refuses what its problem does not allow: room for one
// that is not due or does not wait, for two of one leaf, or beside what stays.
func (r *resolved) setReserved(d *Decision, counts solver.Counts) error {
	if int64(len(d.Reservations)) > r.reservations() {
		return mismatch("Reservations", "more than may be")
	}
	positions, leaves := appIndex(r.given.Applications), make(map[int]bool)
	var list []*reserved
	for at := range d.Reservations {
		v, err := r.reservedBy(&d.Reservations[at], positions, counts)
		if err != nil {
			return err
		}
		if leaves[r.leaf[v.i]] {
			return mismatch("Reservations", listIDs([]string{d.Reservations[at].ID})+" is the second of its queue")
		}
		leaves[r.leaf[v.i]] = true
		list = append(list, v)
	}
	r.keep(list, counts)
	for j, kept := range r.held {
		if !kept.FitsIn(r.capacity[j]) {
			return mismatch("Reservations", "more than server "+listIDs([]string{r.problem.Servers[j].ID})+" has")
		}
	}
	for c, kept := range r.heldBelow {
		if !kept.FitsIn(r.ceiling(c)) {
			return mismatch("Reservations", "more than a ceiling leaves")
		}
	}
	return nil
}

// reservedBy is one reservation of a decision with its names looked up.
func (r *resolved) reservedBy(named *Reservation, positions map[string]int, counts solver.Counts) (*reserved, error) {
	refuse := func(why string) error { return mismatch("Reservations", listIDs([]string{named.ID})+" "+why) }
	o, known := positions[named.ID]
	if !known {
		return nil, refuse("is not here")
	}
	first := r.entries[o][0]
	if _, due := r.overdue(first); !due || len(counts[r.inUse(o, counts)]) > 0 {
		return nil, refuse("is not due")
	}
	v := &reserved{i: r.fitting(first)[0]}
	app := r.app(v.i)
	index := serverIndex(r.problem.Servers)
	for id, n := range named.Servers {
		// The count of one server cannot make the sum leave its range.
		if j, known := index[id]; !known || n < 1 || n > r.most(v.i, j, r.problem.Servers[j].Capacity) {
			return nil, refuse("cannot be on server " + listIDs([]string{id}))
		}
	}
	if v.servers, _ = placements(named.Servers, index); v.servers != nil && v.containers() != app.AtLeast(1) {
		return nil, refuse("has not its least counts")
	}
	if fault := r.tornText(v.i, v.servers); fault != "" {
		return nil, refuse(fault)
	}
	for _, id := range named.For {
		w, known := positions[id]
		if !known || len(counts[r.inUse(w, counts)]) == 0 {
			return nil, refuse("waits for " + listIDs([]string{id}) + ", which has nothing")
		}
		v.waits = append(v.waits, r.inUse(w, counts))
	}
	v.at = r.latest(v.waits)
	slices.Sort(v.waits)
	if again := r.reservation(v); !sameTime(again.At, named.At) {
		return nil, refuse("is not for that time")
	}
	return v, nil
}

// sameTime reports whether both are the same time, or both are not known.
func sameTime(a, b *float64) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}
