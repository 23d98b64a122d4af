// This file implements vessel, a queue that fills: the least of its children rise together, [Bhattacharya13] §4.

package drf

// fluidTolerance is the relative distance within which two levels of queues count as equal: the rounding of the additions
// of a filling.
const fluidTolerance = 0x1p-40

// leastTerm is the least float that an exactSum takes, mostTerm the largest. Rates beyond these are of queues whose weights
// differ by more than any cluster can tell.
const (
	leastTerm = 0x1p-320
	mostTerm  = 0x1p340
)

// vessel is a queue, the root, or the claims of either. Its clock is low, the level of the children that are served; what
// its parent sees is its level. While it is served, its level is the low of its parent, and it is looked at only when
// something happens in it: O(depth) vessels an event.
type vessel struct {
	at       int    // of the queue in the tree
	water    *water // the claims; nil for a queue, which has children
	children []*vessel
	position int // among the children of the parent

	// full and spent say of each kind that the ceiling, or the guarantee, has been reached: it stays so.
	full, spent []bool

	low clock
	// usedAt is the use of each kind at low, rates the use for a unit of low; both only with several children. speed has the rates
	// as floats, amount the use of the kinds that rise, both of the last look; scale is what a unit of a kind counts for in level.
	usedAt []float64
	rates  []exactSum
	speed  []float64
	amount []float64
	scale  []float64
	// events are the children that are served, by what happens in them next; later are those that wait, by their levels.
	// priority says that only children below their guarantees are among these.
	events, later vesselHeap
	priority      bool
	next          happening

	// What the parent sees.
	open   bool      // a claim below can be served
	first  bool      // below its guarantee
	level  clock     // at the last look
	steep  float64   // rise of the level for a unit of low
	flow   []float64 // use for a unit of level
	due    clock     // level at which something happens
	served bool
	place  int // in one of the heaps of the parent
}

// happening is what changes next in a vessel, and at which low.
type happening struct {
	low  clock
	what int
	kind int // of a limit
}

// What changes next.
const (
	nothing = iota // the steepest kind is another one
	inChild        // something in a child that is served
	joining        // a child that waits is level with those served
	ceiling        // a limit is reached
	guarantee
)

func (v *vessel) rise(level clock) {
	low := v.next.low
	if level.compare(v.due) < 0 {
		low = v.low.plus(level.since(v.level) / v.steep)
	}
	v.level = level
	v.riseTo(low)
}

func (v *vessel) riseTo(low clock) {
	switch {
	case v.water != nil:
		v.water.level = low.hi
	case len(v.children) > 1:
		for k := range v.usedAt {
			v.usedAt[k] += float64(v.speed[k] * low.since(v.low))
		}
	}
	v.low = low
}

// only returns the one child of a vessel at its level of now, or nil. Its use is the vessel's.
func (v *vessel) only() *vessel {
	if len(v.children) != 1 {
		return nil
	}
	if c := v.children[0]; c.served {
		c.rise(v.low)
	}
	return v.children[0]
}

func (v *vessel) used(k int) float64 {
	if v.water != nil {
		return v.water.used(k)
	}
	if c := v.only(); c != nil {
		return c.used(k)
	}
	return v.usedAt[k]
}

// left returns what the use of kind k leaves of a limit.
func (v *vessel) left(k int, limit int64) float64 {
	if v.water != nil {
		return v.water.left(k, limit)
	}
	if c := v.only(); c != nil {
		return c.left(k, limit)
	}
	return float64(limit) - v.usedAt[k]
}

// reaches returns the low at which the use of kind k, which grows, comes to a limit if nothing else happens before.
func (v *vessel) reaches(k int, limit int64) clock {
	if c := v.only(); c != nil && c.water != nil {
		return clock{hi: c.water.reaches(k, limit)}
	}
	return v.low.plus(max(0, v.left(k, limit)) / v.speed[k])
}

// rate returns the use of kind k for a unit of low.
func (v *vessel) rate(k int) float64 {
	if len(v.children) > 1 {
		return v.rates[k].value()
	}
	if len(v.children) == 1 && v.children[0].served {
		return v.children[0].flow[k]
	}
	return 0
}

// flows books the rates of a child that is served, or takes them off again.
func (v *vessel) flows(c *vessel, book bool) {
	if len(v.children) == 1 {
		return
	}
	for k, rate := range c.flow {
		switch {
		case rate < leastTerm:
		case book:
			v.rates[k].add(min(rate, mostTerm))
		default:
			v.rates[k].sub(min(rate, mostTerm))
		}
	}
}

// serve has a child rise with the others that are served; it must be put among the events.
func (v *vessel) serve(c *vessel) {
	// A child that is level up to rounding keeps what it has, and goes on from here.
	c.due = v.low.plus(c.due.since(c.level))
	c.served, c.level = true, v.low
	v.flows(c, true)
}

// pause takes a child, the first of the events, out of those that are served; changed must follow, which puts it in its place.
func (v *vessel) pause(c *vessel) {
	c.rise(v.low)
	c.served = false
	v.flows(c, false)
}

// regroup finds the children that are served anew: the least of those below their guarantees, or else of all.
// O(children).
func (v *vessel) regroup() {
	v.priority = false
	for _, c := range v.children {
		v.priority = v.priority || c.open && c.first
		if c.served {
			c.rise(v.low)
			c.served = false
		}
	}
	v.events.list, v.later.list = v.events.list[:0], v.later.list[:0]
	clear(v.rates)
	for _, c := range v.children {
		if c.open && c.first == v.priority {
			v.later.push(c)
		}
	}
	if v.open = len(v.later.list) > 0; v.open {
		v.low = v.later.least()
		v.join()
	}
}

// join serves the children that wait for the present level.
func (v *vessel) join() {
	for v.later.least().hi <= v.low.hi*(1+fluidTolerance) {
		c := v.later.pop()
		v.serve(c)
		v.events.push(c)
	}
}

// changed puts a child where it belongs after something has happened in it. It was paused before.
func (v *vessel) changed(c *vessel) {
	switch {
	case c.open && (c.first != v.priority || c.level.hi < v.low.hi*(1-fluidTolerance)):
		v.regroup() // it is before all others now, or behind those
		return
	case !c.open:
		v.events.remove(c)
	case c.level.hi > v.low.hi*(1+fluidTolerance):
		v.events.remove(c)
		v.later.push(c)
	default:
		v.serve(c)
		v.events.fix(c)
	}
	if len(v.events.list) > 0 {
		return
	}
	if len(v.later.list) == 0 {
		v.regroup()
		return
	}
	v.low = v.later.least()
	v.join()
}
