// This file compiles a solver.Instance for the search: equal demands become one type, servers that hold
// as much of each type one shape, and every application that runs is marked as one that may stay or must move.

package embedded

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/exact"
)

// problem is an instance with flat vectors; it is read-only once built.
type problem struct {
	inst     *solver.Instance
	kinds    int
	servers  int
	capacity []int64 // server j, kind k at j*kinds+k
	total    []int64 // kind k
	types    []demandType
	demand   []int64 // type t, kind k at t*kinds+k
	apps     []app
	shapeOf  []int32   // of a server
	shapes   int       // distinct rows of fits
	fits     []int64   // containers of type t on an empty server of shape h at h*len(types)+t
	lodgers  [][]int32 // the keepable applications on server j
	holding  [][]int64 // how many containers each of them holds there
	// beside[j*kinds+k] is what server j has at most for applications that do not stay: of its lodgers
	// only budget may be freed, in each kind those that use most of it.
	beside []int64
	// budget is how many keepable applications may be freed: AdjustBudget less those that must
	// move, at most the number of keepable applications. Negative: infeasible.
	budget   int64
	keepable int64
	mustMove []int
	// tieLoss is how much utilization one unit of loss is worth in the search: too little to
	// outweigh a container, enough to choose among equals.
	tieLoss float64
	// step divides all utilizations, 0 where no such step is known; unit[k] divides what any application uses of kind k; 0 where none uses it.
	step float64
	unit []int64
}

// demandType is what applications with equal demands share.
type demandType struct {
	value, delta float64
	members      []int32
}

// app is one application as the search sees it.
type app struct {
	typ      int32
	min, max int64 // max is at most what the empty cluster holds
	fair     int64 // floor(share / delta), at most max: the loss falls up to there
	share    float64
	keepable bool // running, and it may stay exactly as it is
	held     int64
	heldLoss float64
}

// loss returns l_i with n containers of an application of type t (2).
func (p *problem) loss(i int32, n int64) float64 {
	a := &p.apps[i]
	return math.Abs(float64(p.types[a.typ].delta*float64(n)) - a.share)
}

func (p *problem) demandOf(t int32) []int64 {
	return p.demand[int(t)*p.kinds : (int(t)+1)*p.kinds]
}

func (p *problem) fit(j int, t int32) int64 {
	return p.fits[int(p.shapeOf[j])*len(p.types)+int(t)]
}

// newProblem compiles inst in O(servers + applications + shapes x types) times kinds.
func newProblem(inst *solver.Instance) *problem {
	p := &problem{inst: inst, kinds: len(inst.Total), servers: len(inst.Capacity), total: inst.Total}
	p.compileTypes()
	p.unit = make([]int64, p.kinds)
	for at, q := range p.demand {
		p.unit[at%p.kinds] = gcd(p.unit[at%p.kinds], q)
	}
	p.compileServers()
	p.compileApps()
	return p
}

// compileTypes groups the applications by demand, in order of first appearance. Value and Delta
// follow from the demand in a Dorm instance; comparing them too keeps any instance exact.
func (p *problem) compileTypes() {
	index := make(map[string]int32)
	p.apps = make([]app, len(p.inst.Apps))
	var key []byte
	for i := range p.inst.Apps {
		source := &p.inst.Apps[i]
		key = vectorKey(key[:0], source.Demand)
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(source.Value))
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(source.Delta))
		t, known := index[string(key)]
		if !known {
			t = int32(len(p.types))
			index[string(key)] = t
			p.types = append(p.types, demandType{value: source.Value, delta: source.Delta})
			p.demand = append(p.demand, source.Demand...)
		}
		p.types[t].members = append(p.types[t].members, int32(i))
		p.apps[i].typ = t
	}
}

func vectorKey(key []byte, r apportion.Resources) []byte {
	for _, q := range r {
		key = binary.LittleEndian.AppendUint64(key, uint64(q))
	}
	return key
}

// compileServers counts what an empty server holds of each type alone, and groups the servers by that: real
// nodes differ by some KiB that nobody can use.
func (p *problem) compileServers() {
	byCapacity, byFits := make(map[string]int32), make(map[string]int32)
	p.shapeOf = make([]int32, p.servers)
	p.capacity = make([]int64, 0, p.servers*p.kinds)
	fits := make([]int64, len(p.types))
	var key []byte
	for j, capacity := range p.inst.Capacity {
		p.capacity = append(p.capacity, capacity...)
		key = vectorKey(key[:0], capacity)
		h, known := byCapacity[string(key)]
		if !known {
			same := string(key)
			for t := range p.types {
				fits[t] = apportion.Resources(p.demandOf(int32(t))).CountIn(capacity)
			}
			key = vectorKey(key[:0], fits)
			if h, known = byFits[string(key)]; !known {
				h = int32(len(byFits))
				byFits[string(key)] = h
				p.fits = append(p.fits, fits...)
			}
			byCapacity[same] = h
		}
		p.shapeOf[j] = h
	}
	p.shapes = len(byFits)
}

// compileApps fills in bounds, what is held now, and who must move.
func (p *problem) compileApps() {
	room := p.clusterRoom()
	p.lodgers, p.holding = make([][]int32, p.servers), make([][]int64, p.servers)
	p.budget = p.inst.AdjustBudget
	for i := range p.apps {
		a, source := &p.apps[i], &p.inst.Apps[i]
		a.min, a.share = source.Min, source.Share
		a.max = min(source.Max, room[a.typ])
		if source.Delta > 0 {
			a.fair = int64(math.Min(source.Share/source.Delta, float64(a.max)))
			a.fair = min(a.fair, a.max)
		}
		if !source.Running {
			continue
		}
		a.held = solver.Containers(source.Previous)
		a.heldLoss = source.Loss(a.held)
		a.keepable = p.canStay(i)
		if !a.keepable {
			p.budget--
			p.mustMove = append(p.mustMove, i)
			continue
		}
		p.keepable++
		for _, placed := range source.Previous {
			p.lodgers[placed.Server] = append(p.lodgers[placed.Server], int32(i))
			p.holding[placed.Server] = append(p.holding[placed.Server], placed.Count)
		}
	}
	p.budget = min(p.budget, p.keepable)
	p.beside = make([]int64, len(p.capacity))
	p.measureBeside(p.beside, nil, p.budget)
	p.tieLoss = p.lossWeight()
	p.step = p.latticeStep()
}

// clusterRoom returns how many containers of each type the empty cluster holds, server by server.
func (p *problem) clusterRoom() []int64 {
	size := make([]int64, p.shapes)
	for _, h := range p.shapeOf {
		size[h]++
	}
	room := make([]int64, len(p.types))
	for t := range room {
		for h, servers := range size {
			room[t] = addSaturated(room[t], mulSaturated(servers, p.fits[h*len(p.types)+t]))
		}
	}
	return room
}

// canStay reports whether application i may keep exactly what it has, as far as it alone decides.
func (p *problem) canStay(i int) bool {
	a, source := &p.apps[i], &p.inst.Apps[i]
	if source.Displaced || a.held < source.Min || a.held > source.Max {
		return false
	}
	for _, placed := range source.Previous {
		if placed.Count > p.fit(placed.Server, a.typ) {
			return false
		}
	}
	return true
}

// measureBeside fills beside with what every server has at most for applications that do not stay when
// the choices are made, nil for none, and budget lodgers may still be freed: those that are kept
// remain, and of those that are open, in each kind all but the budget largest.
func (p *problem) measureBeside(beside []int64, choices []choice, budget int64) {
	var used []int64
	for j, lodgers := range p.lodgers {
		for k := range p.kinds {
			used = used[:0]
			left := p.capacity[j*p.kinds+k]
			for s, i := range lodgers {
				use := mulSaturated(p.holding[j][s], p.demandOf(p.apps[i].typ)[k])
				switch {
				case choices == nil || choices[i] == open:
					used = append(used, use)
				case choices[i] == kept:
					left -= min(use, left)
				}
			}
			slices.Sort(used)
			for _, u := range used[:max(0, int64(len(used))-max(0, budget))] {
				left -= min(u, left)
			}
			beside[j*p.kinds+k] = left
		}
	}
}

// lossWeight is a thousandth of the least value of a container.
func (p *problem) lossWeight() float64 {
	least := math.Inf(1)
	for t := range p.types {
		if v := p.types[t].value; v > 0 {
			least = math.Min(least, v)
		}
	}
	if math.IsInf(least, 1) {
		return 1
	}
	return least / 1000
}

func addSaturated(a, b int64) int64 {
	if sum, ok := exact.Add(a, b); ok {
		return sum
	}
	return math.MaxInt64
}

func mulSaturated(a, b int64) int64 {
	if product, ok := exact.Mul(a, b); ok {
		return product
	}
	return math.MaxInt64
}
