// This file counts what keeps an application off the servers, as the metrics of an allocation in Nomad and the "0/5 nodes" of the
// scheduler of Kubernetes do: each server once, by the first that stands in the way there.

package alloc

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// view is the servers as they stand, grouped: what a question looks at.
type view struct {
	r    *resolved
	room func(i, j int) apportion.Resources // what is left of server j for entry i
	// draft holds the allocation; nil: the servers are empty. from is where the application was that asks for other places; nil: it has none.
	draft   *draft
	from    []apportion.Placement
	shapes  []shape
	shapeOf []int
	labels  map[string][]apportion.Blocker // by requirements
	tallies map[string]*tally              // by what is asked
	reasons map[string]apportion.Reason    // of those left out, by what is asked
	kept    []keeper                       // settings that keep anybody from giving room; nil before the first question
	ranks   []ranked                       // nil before the first question
	likes   []int                          // by rank, which of them give the same
	given   []int64                        // by what is alike, what it gives to one newcomer; -1 before it is asked
	gifts   map[int][]gift                 // by kind
	dear    *int64                         // what changing all takes, whoever asks; nil before the first question
	scratch apportion.Resources
	key     []byte
	trials  int // how many were tried with a budget without limit
	sought  int // for how many remedies were looked for
	// preempts: some application that runs could be suspended by priority.
	preempts bool
}

// emptyView is the servers without anything on them.
func (r *resolved) emptyView() *view {
	servers := r.problem.Servers
	v := &view{r: r, room: func(_, j int) apportion.Resources { return servers[j].Capacity }}
	return v.group(func(to []byte, j int) []byte {
		return appendVector(binary.AppendUvarint(to, uint64(r.open.class[j])), servers[j].Capacity)
	})
}

// newView is the servers under counts, one entry for each application of the problem, of which those in apps are in.
func (r *resolved) newView(apps []int, counts solver.Counts) *view {
	r = r.anywhere() // an application that was left out is in no domain
	d := newDraft(r)
	v := &view{r: r, draft: d, room: d.room}
	for w := range counts {
		v.preempts = v.preempts || r.running(w) && r.problem.Applications[w].Preemptible
	}
	d.holdAll(apps, counts)
	return v.groupByRoom()
}

// groupByRoom finds the servers that are alike in what the draft leaves of them.
func (v *view) groupByRoom() *view {
	d := v.draft
	return v.group(func(to []byte, j int) []byte {
		to = appendVector(append(to, d.likeness(j)...), v.r.problem.Servers[j].Capacity)
		if d.isReserved(j) {
			to = binary.AppendUvarint(to, uint64(j)) // which application may use it depends on the one that asks
		}
		return to
	})
}

// group finds the servers that are alike.
func (v *view) group(key func(to []byte, j int) []byte) *view {
	v.shapes, v.shapeOf = shapesOf(len(v.r.problem.Servers), key)
	v.labels, v.tallies, v.reasons = make(map[string][]apportion.Blocker), make(map[string]*tally), make(map[string]apportion.Reason)
	v.gifts = make(map[int][]gift)
	return v
}

// holdAll makes the draft be counts, one entry for each application, of which those in apps are in.
func (d *draft) holdAll(apps []int, counts solver.Counts) {
	for i := range d.counts {
		d.remove(i)
		d.in[i], d.moved[i] = false, true
	}
	d.spent = 0
	for _, i := range apps {
		d.in[i] = true
		if app := d.r.app(i); d.r.running(i) && app.Adjusted(counts[i]) {
			d.spent += app.CostOf(solver.Containers(counts[i]))
		} else {
			d.moved[i] = !d.r.running(i) || d.r.forced[i]
		}
		d.put(i, counts[i])
	}
}

// tally is what one question finds on the servers.
type tally struct {
	blockers []apportion.Blocker
	// fits is how many containers have room, within the number of servers; spread without that.
	fits, spread int64
	// rooms has how many containers the servers have room for that it is not on, unruled the same whatever may be on one server; not those
	// that have none.
	rooms, unruled []rooms
	// nearly has by kind a server on which one unit of it more would do for a container, -1 where there is none.
	nearly []int
}

// tallyOf counts what keeps want more containers of entry i, which has those in placed, off the servers. The answer is only read.
// O(unlike servers x kinds), and once for all that ask for the same.
func (v *view) tallyOf(i int, placed []apportion.Placement, want int64) *tally {
	app := &v.r.problem.Applications[i]
	alone := app.PerServer > 0 || app.MaxServers > 0
	if !alone {
		placed = nil
	}
	// What is reserved may be open to one and not to another.
	if len(placed) > 0 || v.draft != nil && len(v.draft.reserved) > 0 {
		return v.count(i, placed, want)
	}
	key := appendVector(v.key[:0], app.Demand)
	key = appendVector(key, apportion.Resources{want, app.PerServer, app.MaxServers})
	if app.Requires != nil || v.r.wishes[i] != nil {
		key = fmt.Appendf(key, "%q%v", app.Requires, v.r.wishes[i])
	}
	v.key = key
	if known := v.tallies[string(key)]; known != nil {
		return known
	}
	t := v.count(i, nil, want)
	v.tallies[string(key)] = t
	return t
}

// counting adds up blockers as servers are looked at.
type counting struct {
	*view
	i       int   // the entry that asks
	want    int64 // for how many containers
	servers int64 // on how many it is
	*tally
	found []blocked // one for each in list
	list  []apportion.Blocker
}

// blocked is what tells blockers of servers apart.
type blocked struct {
	cause string
	kind  int
}

// add counts servers like j, each with so much of a kind free and room for so many containers.
func (c *counting) add(by blocked, s shape, free, fits int64) {
	at := slices.Index(c.found, by)
	if at < 0 {
		at = len(c.list)
		c.found = append(c.found, by)
		c.list = append(c.list, apportion.Blocker{Cause: by.cause, Server: c.r.problem.Servers[s.server].ID})
		if by.kind >= 0 {
			c.list[at].Kind = c.r.problem.Kinds.Name(by.kind)
		}
	}
	b := &c.list[at]
	b.Servers += s.count
	b.Free += s.count * free
	b.Largest = max(b.Largest, free)
	b.Fits += s.count * fits
}

// count is tallyOf without a look at what is known.
func (v *view) count(i int, placed []apportion.Placement, want int64) *tally {
	app := &v.r.problem.Applications[i]
	t := &tally{nearly: slices.Repeat([]int{-1}, v.r.ownKinds())}
	c := &counting{view: v, i: i, want: want, servers: int64(len(placed)), tally: t}
	var here []rooms // on servers that it is on
	var others []rooms
	for _, s := range v.alike(placed) {
		if !v.r.open.suits(i, s.server) {
			continue // these are counted by label
		}
		n := on(placed, s.server)
		switch fits := c.look(s, n); {
		case fits == 0: // as most of a full cluster
		case n > 0:
			here = append(here, rooms{fits, s.count})
		default:
			others = append(others, rooms{fits, s.count})
		}
	}
	for at := range c.list {
		b := &c.list[at]
		if b.Kind != "" {
			b.Need = app.Demand[slices.Index(v.r.problem.Kinds, b.Kind)]
		}
		if b.Cause == ByPerServer {
			b.Limit, b.Setting = app.PerServer, "applications.per_server"
		}
		if b.Cause == ByServersInUse {
			b.Limit, b.Setting = app.MaxServers, "applications.max_servers"
		}
		if b.Cause == ByLabel {
			b.Label = v.r.problem.Topology[v.r.wishes[i].Leaf()]
		}
		if b.Cause == ByReservation {
			b.Applications = v.holders(i)
		}
	}
	t.blockers = append(c.list, v.labelled(i)...)
	slices.SortStableFunc(t.blockers, func(a, b apportion.Blocker) int { return cmp.Compare(b.Servers, a.Servers) })
	onThese := largest(here, 0)
	t.spread = onThese + largest(slices.Clone(others), 0)
	t.fits, t.rooms = t.spread, others
	if app.MaxServers > 0 {
		t.fits = onThese
		if more := app.MaxServers - int64(len(placed)); more > 0 {
			t.fits += largest(slices.Clone(others), more)
		}
		if t.fits < want && t.spread >= want {
			t.blockers = slices.Insert(t.blockers, 0, apportion.Blocker{Cause: ByMaxServers, Limit: app.MaxServers, Fits: t.fits, Setting: "applications.max_servers"})
		}
	}
	return t
}

// look counts what keeps the entry, which has so many containers here, off servers that are alike, and returns how many containers one
// of them has room for.
func (c *counting) look(s shape, here int64) (fits int64) {
	i, app, j := c.i, &c.r.problem.Applications[c.i], s.server
	server := &c.r.problem.Servers[j]
	switch {
	case server.Cordoned:
		c.add(blocked{ByCordon, -1}, s, 0, 0)
		return 0
	case !c.r.mayCome(i, j):
		c.add(blocked{ByLabel, -1}, s, 0, 0) // of a domain
		return 0
	case !app.Demand.FitsIn(server.Capacity):
		k := c.shortest(i, server.Capacity)
		c.add(blocked{BySize, k}, s, server.Capacity[k], 0)
		return 0
	}
	left := c.room(i, j)
	room := app.Demand.CountIn(left)
	if room > 0 {
		c.unruled = append(c.unruled, rooms{room, s.count})
	}
	if fits = room; app.PerServer > 0 {
		fits = min(room, max(0, app.PerServer-here))
	}
	switch {
	case app.MaxServers > 0 && here == 0 && c.servers >= app.MaxServers:
		c.add(blocked{ByServersInUse, -1}, s, 0, 0)
		return 0
	case fits < room && fits < c.want:
		c.add(blocked{ByPerServer, -1}, s, 0, fits)
	case room == 0 && c.draft != nil && app.Demand.FitsIn(c.draft.left[j]):
		c.add(blocked{ByReservation, -1}, s, 0, 0)
	case room == 0:
		k := c.shortest(i, left)
		c.add(blocked{ByRoom, k}, s, max(0, left[k]), 0)
		if one := c.lacksOne(i, left); one >= 0 && c.nearly[one] < 0 {
			c.nearly[one] = j
		}
	case fits < c.want:
		c.add(blocked{ByNumber, -1}, s, 0, fits)
	}
	return fits
}

// shortest returns the kind of which the least part of what one container of entry i takes is there, of equals the one of which it
// takes the largest part of the cluster.
func (c *counting) shortest(i int, left apportion.Resources) int {
	worst, part, share := 0, math.Inf(1), 0.0
	for k, q := range c.r.problem.Applications[i].Demand[:c.r.ownKinds()] {
		if q == 0 {
			continue
		}
		p, s := float64(max(0, left[k]))/float64(q), float64(q)/math.Max(1, float64(c.r.total[k]))
		if p < part || p == part && s > share {
			worst, part, share = k, p, s
		}
	}
	return worst
}

// lacksOne returns the kind of which one unit more would make room for a container of entry i, -1 where more is missing.
func (c *counting) lacksOne(i int, left apportion.Resources) int {
	one := -1
	for k, q := range c.r.problem.Applications[i].Demand[:c.r.ownKinds()] {
		switch {
		case q <= left[k]:
		case q == left[k]+1 && one < 0:
			one = k
		default:
			return -1
		}
	}
	return one
}

// holders lists the applications that room is reserved for, which entry i may not have.
func (v *view) holders(i int) (ids []string) {
	for _, held := range v.draft.reserved {
		if v.draft.respects(held, i) {
			ids = append(ids, v.r.problem.Applications[held.i].ID)
		}
	}
	return ids
}

// alike returns the servers by their shapes, but for those in placed, which stand by themselves.
func (v *view) alike(placed []apportion.Placement) []shape {
	if len(placed) == 0 {
		return v.shapes
	}
	list, has := make([]shape, 0, len(placed)+len(v.shapes)), make(map[int]int64, len(placed))
	for _, p := range placed {
		list = append(list, shape{p.Server, 1})
		has[v.shapeOf[p.Server]]++
	}
	for at, group := range v.shapes {
		if group.count -= has[at]; group.count == 0 {
			continue
		}
		// The first of a shape may be one that it is on.
		for on(placed, group.server) > 0 {
			group.server += 1 + slices.Index(v.shapeOf[group.server+1:], at)
		}
		list = append(list, group)
	}
	return list
}

// labelled counts the servers whose labels do not satisfy entry i, each by the first requirement that does not hold.
func (v *view) labelled(i int) []apportion.Blocker {
	requires := v.r.problem.Applications[i].Requires
	if len(requires) == 0 {
		return nil
	}
	key := fmt.Sprintf("%q", requires)
	if known, found := v.labels[key]; found {
		return known
	}
	at := make([]int, len(requires))
	var list []apportion.Blocker
	for j := range v.r.problem.Servers {
		server := &v.r.problem.Servers[j]
		q := slices.IndexFunc(requires, func(q apportion.Requirement) bool { return !q.Holds(server.Labels) })
		if q < 0 {
			continue
		}
		if at[q] == 0 {
			list = append(list, apportion.Blocker{Cause: ByLabel, Label: selector(&requires[q]), Server: server.ID, Setting: "applications.requires"})
			at[q] = len(list)
		}
		list[at[q]-1].Servers++
	}
	v.labels[key] = list
	return list
}

// selector writes a requirement without spaces, as selectors of labels do.
func selector(q *apportion.Requirement) string {
	values := strings.Join(q.Values, "|")
	switch q.Op {
	case apportion.In:
		return q.Key + "=" + values
	case apportion.NotIn:
		return q.Key + "!=" + values
	case apportion.NotExists:
		return "!" + q.Key
	}
	return q.Key
}
