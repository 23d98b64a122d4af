// This file holds the cluster, and how containers, servers and applications come and go in it.

package event

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/internal/remainders"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
)

// Rule is what a problem says beside its servers and applications.
type Rule struct {
	// Theta1 and Theta2 are those of the problem.
	Theta1, Theta2 float64
	// Printed says that (15) is as the paper prints it, Ceil15 and Ceil16 that the budgets are rounded up.
	Printed, Ceil15, Ceil16 bool
	// Queues is the tree that gives shares, and its ceilings hold; nil: all share alike.
	Queues []drf.Queue
	// Flat says that they are asked as if there were no queues.
	Flat bool
	// Restart is which part of what an application is worth a change of it takes, Gain how many of its containers it takes at least.
	Restart, Gain float64
	// Patience is how many times its own least counts an application that waits lets others pass.
	Patience float64
	// Widest is the part of the cluster that counts of an application that needs more, for its patience.
	Widest float64
	// Victims is how many applications are asked one by one to make room for another.
	Victims int
	// Suspends says that others may be suspended for one that waits.
	Suspends bool
}

// App is what applications have in common that are one to an event.
type App struct {
	Demand                apportion.Resources
	Weight                float64
	Min, Max, Step, Cost  int64
	Counts                []int64
	PerServer, MaxServers int64
	Queue                 string
}

// Cluster is a cluster with what runs on it. The zero value is not ready; see New.
type Cluster struct {
	rule     Rule
	tree     *tree // nil: all are asked as of one queue
	kinds    int
	servers  []server
	apps     []app
	groups   []*group // by key, ascending
	lines    []*line  // by key, ascending
	holds    []*hold
	ceilings []ceiling
	above    map[string][]int // ceilings above the applications of a queue, the lowest first
	shapes   []*shape         // by key, ascending
	remain   *remainders.Groups
	prices   Prices
	key      []byte
	held     []int64 // scratch of bounds: containers by application and shape
	undo     []func()
	ev       *repairing // the event that is decided
}

// server is one server, in the order of the problem; one that is gone keeps its position.
type server struct {
	capacity, left apportion.Resources
	shape          *shape
	closed, gone   bool
	residents      []int32             // applications, ascending
	hold           *hold               // nil: nothing is kept here
	kept           apportion.Resources // what of it others may not have: it is not in left
}

// shape is all open servers of one capacity.
type shape struct {
	key      string
	capacity apportion.Resources
	count    int64
	price    []float64 // by kind, of all there is of it in the cluster
	at       int       // in the list of shapes, while a bound is computed
}

// app is one application, in the order of submission; one that is gone keeps its position. It is in a group, or waits in a line.
type app struct {
	group    *group
	line     *line
	placed   []apportion.Placement
	n        int64
	priority int64
	passed   float64 // what was let in past it, in parts of the cluster
}

// group is all applications that are equal in everything.
type group struct {
	key     string
	given   App
	app     solver.App // the dense form that all of them have
	above   []int      // ceilings, the lowest first
	room    int64      // containers that the empty cluster holds, and the ceilings allow
	members int64
	levels  []level // by n, ascending
	stays   []stay  // scratch of bounds
}

// level is the members of a group with n containers, ascending.
type level struct {
	n    int64
	apps []int32
}

// New returns an empty cluster of so many kinds, with room for so many servers.
func New(kinds, servers int, rule Rule) *Cluster {
	c := &Cluster{rule: rule, kinds: kinds, remain: remainders.New(servers)}
	c.ceilings, c.above = newCeilings(rule.Queues, kinds)
	if !rule.Flat {
		c.tree = newTree(rule.Queues)
	}
	return c
}

// AddServer adds a server and returns its position. Its vector is shared and only read.
func (c *Cluster) AddServer(capacity apportion.Resources, closed bool) int {
	j := len(c.servers)
	c.servers = append(c.servers, server{capacity: capacity, left: capacity.Clone(), closed: true})
	c.remain.Extend(j + 1)
	c.undo = append(c.undo, func() { c.servers = c.servers[:j] })
	if !closed {
		c.Open(j)
	}
	return j
}

// Open lets containers come to server j, which is closed.
func (c *Cluster) Open(j int) { c.setClosed(j, false) }

// Close lets no containers come to server j, which is open; what is on it stays.
func (c *Cluster) Close(j int) { c.setClosed(j, true) }

func (c *Cluster) setClosed(j int, closed bool) {
	was := c.servers[j].shape
	c.shut(j, closed, nil)
	c.undo = append(c.undo, func() { c.shut(j, !closed, was) })
}

// shut is setClosed without a way back; where its shape is not there it becomes the one given, if any.
func (c *Cluster) shut(j int, closed bool, of *shape) {
	s := &c.servers[j]
	s.closed = closed
	if closed {
		if s.shape.count--; s.shape.count == 0 {
			at, _ := find(c.shapes, s.shape.key, (*shape).name)
			c.shapes = slices.Delete(c.shapes, at, at+1)
		}
		c.remain.Remove(j)
		return
	}
	key := string(appendVector(nil, s.capacity))
	at, known := find(c.shapes, key, (*shape).name)
	if !known {
		if of == nil {
			of = &shape{key: key, capacity: s.capacity, price: c.startPrice(key)}
		}
		c.shapes = slices.Insert(c.shapes, at, of)
	}
	s.shape = c.shapes[at]
	s.shape.count++
	c.remain.Put(j, c.likeness(j))
}

func (s *shape) name() string { return s.key }
func (g *group) name() string { return g.key }

// find looks a key up in a list that ascends by it.
func find[T any](list []T, key string, name func(T) string) (at int, known bool) {
	return slices.BinarySearchFunc(list, key, func(x T, key string) int { return cmp.Compare(name(x), key) })
}

// likeness tells what server j has left.
func (c *Cluster) likeness(j int) []byte {
	c.key = appendVector(c.key[:0], c.servers[j].left)
	return c.key
}

// appendVector writes quantities of fixed width, so that two keys are equal only where all quantities are.
func appendVector(to []byte, v []int64) []byte {
	for _, q := range v {
		to = binary.BigEndian.AppendUint64(to, uint64(q))
	}
	return to
}

// AddApp adds an application that runs, without containers, and returns its position. Slices are shared and only read.
func (c *Cluster) AddApp(given App, priority int64) int {
	i := len(c.apps)
	c.apps = append(c.apps, app{priority: priority})
	c.undo = append(c.undo, func() { c.apps = c.apps[:i] })
	c.enter(i, given)
	return i
}

// key tells applications that are equal from others.
func (a *App) key() string {
	key := appendVector(nil, a.Demand)
	key = appendVector(key, []int64{int64(math.Float64bits(a.Weight)), a.Min, a.Max, a.Step, a.Cost, a.PerServer, a.MaxServers, int64(len(a.Counts))})
	return string(append(appendVector(key, a.Counts), a.Queue...))
}

// join puts application i among those of its group with its number of containers, and counts it so often as a member.
func (c *Cluster) join(i int, members int64) {
	a := &c.apps[i]
	g := a.group
	g.members += members
	c.use(g, a.n)
	at, known := g.level(a.n)
	if !known {
		g.levels = slices.Insert(g.levels, at, level{n: a.n})
	}
	l := &g.levels[at]
	where, _ := slices.BinarySearch(l.apps, int32(i))
	l.apps = slices.Insert(l.apps, where, int32(i))
}

// part is the contrary of join.
func (c *Cluster) part(i int, members int64) {
	a := &c.apps[i]
	g := a.group
	g.members -= members
	c.use(g, -a.n)
	at, _ := g.level(a.n)
	l := &g.levels[at]
	where, _ := slices.BinarySearch(l.apps, int32(i))
	if l.apps = slices.Delete(l.apps, where, where+1); len(l.apps) == 0 {
		g.levels = slices.Delete(g.levels, at, at+1)
	}
}

// level returns where the members with n containers are in a group.
func (g *group) level(n int64) (at int, known bool) {
	return slices.BinarySearchFunc(g.levels, n, func(l level, n int64) int { return cmp.Compare(l.n, n) })
}

// leave takes application i out of its group, and the group where that was its last.
func (c *Cluster) leave(i int) {
	g := c.apps[i].group
	c.unlist(i)
	c.undo = append(c.undo, func() { c.list(i, g) })
}

// enter puts application i, which is in no group, into that of those that are equal to given.
func (c *Cluster) enter(i int, given App) {
	c.list(i, c.newGroup(given))
	c.undo = append(c.undo, func() { c.unlist(i) })
}

// unlist is leave without a way back.
func (c *Cluster) unlist(i int) {
	g := c.apps[i].group
	c.part(i, 1)
	if g.members == 0 {
		at, _ := find(c.groups, g.key, (*group).name)
		c.groups = slices.Delete(c.groups, at, at+1)
	}
	c.apps[i].group = nil
}

// list is enter without a way back: where its group is not there it becomes the one given.
func (c *Cluster) list(i int, g *group) {
	at, known := find(c.groups, g.key, (*group).name)
	if !known {
		g.levels = nil
		c.groups = slices.Insert(c.groups, at, g)
	}
	c.apps[i].group = c.groups[at]
	c.join(i, 1)
}

// Put gives application i delta containers more on server j, fewer where delta is negative. There must be room for them.
func (c *Cluster) Put(i, j int, delta int64) {
	c.shift(i, j, delta)
	c.undo = append(c.undo, func() { c.shift(i, j, -delta) })
}

// shift is Put without a way back.
func (c *Cluster) shift(i, j int, delta int64) {
	a, s := &c.apps[i], &c.servers[j]
	c.part(i, 0)
	a.n += delta
	c.join(i, 0)
	at, there := slices.BinarySearchFunc(a.placed, j, func(p apportion.Placement, j int) int { return cmp.Compare(p.Server, j) })
	if !there {
		a.placed = slices.Insert(a.placed, at, apportion.Placement{Server: j})
		where, _ := slices.BinarySearch(s.residents, int32(i))
		s.residents = slices.Insert(s.residents, where, int32(i))
	}
	if a.placed[at].Count += delta; a.placed[at].Count == 0 {
		a.placed = slices.Delete(a.placed, at, at+1)
		where, _ := slices.BinarySearch(s.residents, int32(i))
		s.residents = slices.Delete(s.residents, where, where+1)
	}
	for k, d := range a.group.given.Demand {
		s.left[k] -= delta * d
	}
	if s.hold != nil {
		c.setKept(j)
	}
	c.regroup(j)
	if c.tree != nil {
		c.tree.used = nil
	}
}

// regroup puts server j where it belongs by what it has left.
func (c *Cluster) regroup(j int) {
	if !c.servers[j].closed {
		c.remain.Remove(j)
		c.remain.Put(j, c.likeness(j))
	}
}

// Fits reports whether all that was put on servers has room there, and is below the ceilings.
func (c *Cluster) Fits() bool {
	return !c.exceeded() && !slices.ContainsFunc(c.servers, func(s server) bool { return slices.Min(s.left) < 0 })
}

// Placed returns where the containers of application i are. The slice is shared and only read.
func (c *Cluster) Placed(i int) []apportion.Placement { return c.apps[i].placed }

// on returns how many containers application i has on server j.
func (c *Cluster) on(i, j int) int64 {
	placed := c.apps[i].placed
	at, there := slices.BinarySearchFunc(placed, j, func(p apportion.Placement, j int) int { return cmp.Compare(p.Server, j) })
	if !there {
		return 0
	}
	return placed[at].Count
}

// Rollback takes back all that was done since the last commit.
func (c *Cluster) Rollback() {
	c.backTo(0)
	c.Commit()
}

// backTo takes back all that was done since there was so much to take back.
func (c *Cluster) backTo(mark int) {
	for at := len(c.undo) - 1; at >= mark; at-- {
		c.undo[at]()
	}
	clear(c.undo[mark:])
	c.undo = c.undo[:mark]
}

// Commit keeps what was done.
func (c *Cluster) Commit() {
	clear(c.undo)
	c.undo, c.ev = c.undo[:0], nil
}
