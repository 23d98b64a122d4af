// This file compiles a solver.Instance: servers that hold as much of each type are one shape, and every
// application that runs is marked as one that may stay or must move, [Dorm §IV].

package problem

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// New compiles inst in O(servers + applications + shapes x types) times kinds.
func New(inst *solver.Instance) *Problem {
	p := &Problem{Inst: inst, Kinds: len(inst.Total), Servers: len(inst.Capacity), Total: inst.Total, Plain: Plain(inst)}
	// The order matters: servers are grouped by what they hold of the types, and maxima of applications need
	// the shapes of servers.
	p.compileTypes(p.compileCeilings())
	p.Plain = p.Plain && len(p.Ceilings) == 0
	p.Worthy, p.Spreads = worthy(inst, p.Plain), spreads(inst)
	p.Unit = make([]int64, p.Kinds)
	// Unit[k] = gcd over all types of d_tk, in units of kind k: no solution uses an amount between two
	// multiples of it, which the tree branches on.
	for at, q := range p.demand {
		p.Unit[at%p.Kinds] = gcd(p.Unit[at%p.Kinds], q)
	}
	p.compileServers()
	p.compileApps()
	return p
}

// Plain reports whether inst is the paper's P2.
// The methods that this allows (patterns, the tree, closed forms) assume linear worth, one budget that counts
// heads, and servers that are open to all; one exception makes them wrong, and hence each is tested here.
func Plain(inst *solver.Instance) bool {
	// A price on loss adds a second term to (10).
	if inst.LossPrice > 0 {
		return false
	}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		// Cost 1 for each that runs makes (16) a number of applications; where it does not run Cost is never
		// charged.
		if own(app) || app.Classes != nil || app.Pinned || app.Running && app.Cost != 1 {
			return false
		}
	}
	return true
}

// compileServers counts what an empty server holds of each type alone, and groups the servers by that: real
// nodes differ by some KiB that nobody can use.
func (p *Problem) compileServers() {
	// Two indices: capacities saves the divisions for equal servers, O(servers x kinds), and rows joins
	// capacities that differ by what no type can use.
	var capacities, rows Index
	var first, shapes []int32 // by capacity: its first server, and its shape
	p.ShapeOf = make([]int32, p.Servers)
	p.Capacity = make([]int64, 0, p.Servers*p.Kinds)
	for j, capacity := range p.Inst.Capacity {
		p.Capacity = append(p.Capacity, capacity...)
		// Two servers of equal capacity are different where they are open to different applications.
		class := p.classOf(j)
		n, known := capacities.Of(Mix(Hash(capacity), int64(class)), func(n int32) bool {
			return p.classOf(int(first[n])) == class && slices.Equal(p.Inst.Capacity[first[n]], capacity)
		})
		if !known {
			// fits_t = floor of min over k of c_jk / d_tk, and 0 where the class is closed to the type.
			fits := len(p.Fits)
			for t := range p.Types {
				p.Fits = append(p.Fits, p.Types[t].fit(class, apportion.Resources(p.DemandOf(int32(t))).CountIn(capacity)))
			}
			h, known := rows.Of(Hash(p.Fits[fits:]), func(h int32) bool {
				return slices.Equal(p.Fits[int(h)*len(p.Types):][:len(p.Types)], p.Fits[fits:])
			})
			if known {
				p.Fits = p.Fits[:fits]
			}
			first, shapes = append(first, int32(j)), append(shapes, h)
		}
		p.ShapeOf[j] = shapes[n]
	}
	p.shapes = rows.Len()
}

// classOf returns the class of server j.
func (p *Problem) classOf(j int) int {
	if p.Inst.Class == nil {
		return 0
	}
	return p.Inst.Class[j]
}

// compileApps fills in bounds, what is held now, and who must move.
// HeldLoss and HeldExtra are constants of the instance: computed once here, they make keeping O(1) in every
// search. Residents and Holding are parallel lists in ascending order of application, the same in every run.
// Step stays 0 where no lattice is known, and bounds then count as met within the tolerance alone.
func (p *Problem) compileApps() {
	// room bounds n_i by (6) alone; with a Max above it relaxations would count containers that no packing
	// has.
	room, limits := p.clusterRoom(), p.Limits()
	p.Residents, p.Holding = make([][]int32, p.Servers), make([][]int64, p.Servers)
	unit := p.compileBudget()
	for i := range p.Apps {
		a, source := &p.Apps[i], &p.Inst.Apps[i]
		a.Min, a.share = source.Min, source.Share
		// The searches know intervals alone: what may have none is held to no minimum, and the referee
		// has the last word on the numbers between.
		if source.Elective {
			a.Min = 0
		}
		a.Held = solver.Containers(source.Previous)
		// These alone can stay as they are; the others must be freed, and count against (16).
		a.Pinnable = source.Running && p.Inst.MayStay(i)
		a.Max = min(source.Max, room[a.Type], p.Below(a.Type, limits))
		// Where it may stay it may hold more than it could have anew.
		if a.Pinnable {
			a.Max = max(a.Max, a.Held)
		}
		a.setFair(source)
		if t := &p.Types[a.Type]; t.Own != nil {
			t.Curve = newCurve(source, a.Max, a.Fair)
			t.setTallies(a.Max)
		}
		if !source.Running {
			continue
		}
		a.HeldLoss, a.HeldExtra = source.Loss(a.Held), source.Kept()
		if source.Spread != nil {
			a.HeldTorn = source.Extra(a.Held) + source.Stay - a.HeldExtra
		}
		// A change that costs nothing is for the search to make: there is nobody to be freed, unless it
		// holds what it could not have anew, or staying is worth something.
		cost := source.Cost
		if cost > 0 && source.MayGrow() {
			p.Grows = true
			a.Owed, cost = cost/unit, 0
		}
		if source.Cost == 0 && (!a.Pinnable || source.Stay == 0 && p.openAll(i)) && !source.Pinned {
			a.Pinnable = false
			continue
		}
		if !a.Pinnable && a.Owed > 0 {
			continue // what it takes depends on its number
		}
		if !a.Pinnable {
			p.Budget--
			// Spend ends at -1 at least: infeasible, without an overflow.
			p.Spend -= min(cost/unit, p.Spend+1)
			p.MustMove = append(p.MustMove, i)
			continue
		}
		a.Fixed, a.Weight = source.Pinned, cost/unit
		p.Stays = p.Stays || source.Stay > 0
		if a.Weight == 0 {
			p.Budget++
		}
		p.Pinnable++
		for _, placed := range source.Previous {
			p.Residents[placed.Server] = append(p.Residents[placed.Server], int32(i))
			p.Holding[placed.Server] = append(p.Holding[placed.Server], placed.Count)
		}
	}
	p.Budget = min(p.Budget, p.Pinnable)
	if p.Plain {
		p.Spend = p.Budget
	}
	p.Residual = make([]int64, len(p.Capacity))
	// Residual is that of the root, at the full budget: it bounds what any choice leaves.
	p.ResidualCapacity(p.Residual, nil, p.Budget)
	p.Scale, p.TieLoss = p.scale(), p.lossWeight()
	// A loss that is paid for is on no lattice, nor are worths by number and prices of restarts.
	if p.Inst.LossPrice == 0 && !p.Worthy && !p.Stays {
		p.Step = p.latticeStep()
	}
}

// setFair sets the fair number, once the most is known.
func (a *App) setFair(source *solver.App) {
	if source.Delta <= 0 {
		return
	}
	// f = floor(s^_i / delta). Compared as floats first: with a tiny delta f does not fit int64, nor does float64(a.Max) where that rounds
	// up to 2^63.
	a.Fair = a.Max
	if fair := source.Share / source.Delta; fair < float64(a.Max) {
		a.Fair = int64(fair)
	}
}

// compileBudget counts how many applications may be adjusted at most, and what they may cost in units that
// divide every cost. It returns the unit.
// In the paper's P2 every cost is 1: unit is 1, and both budgets are AdjustBudget.
func (p *Problem) compileBudget() (unit int64) {
	cheapest := int64(math.MaxInt64)
	for i := range p.Inst.Apps {
		// Costs of 0 are left out: gcd would ignore them, but cheapest would be 0, and divide by it.
		if app := &p.Inst.Apps[i]; app.Running && app.Cost > 0 {
			unit, cheapest = gcd(unit, app.Cost), min(cheapest, app.Cost)
		}
	}
	// unit is 0 where nobody has a cost; 1 keeps the divisions by it defined.
	unit = max(1, unit)
	// Allowed = floor(A / min cost) bounds the number of adjustments from above: no set with more of them
	// keeps (16).
	p.Allowed = p.Inst.AdjustBudget / cheapest
	if cheapest == math.MaxInt64 {
		p.Allowed = p.Inst.AdjustBudget // nobody is charged
	}
	p.Budget, p.Spend = p.Allowed, p.Inst.AdjustBudget/unit
	return unit
}

// openAll reports whether application i could have anew what it holds, as far as servers are open to it.
// Where it could not, freeing it loses something for good, and so there is a choice to make after all.
func (p *Problem) openAll(i int) bool {
	for _, placed := range p.Inst.Apps[i].Previous {
		if !p.Inst.Open(i, placed.Server) {
			return false
		}
	}
	return true
}

// clusterRoom returns how many containers of each type the empty cluster holds, server by server.
func (p *Problem) clusterRoom() []int64 {
	// size_h is the number of servers of shape h: with it the room takes shapes x types instead of servers x
	// types.
	size := make([]int64, p.shapes)
	for _, h := range p.ShapeOf {
		size[h]++
	}
	room := make([]int64, len(p.Types))
	for t := range room {
		for h, servers := range size {
			// room_t = sum_h size_h fits_ht, saturated: a tiny demand in a large cluster leaves int64.
			room[t] = AddSaturated(room[t], MulSaturated(servers, p.Fits[h*len(p.Types)+t]))
		}
	}
	return room
}

// compileTypes groups the applications by demand, servers and the ceilings in rows, in order of first appearance. Value and Delta
// follow from the demand in a Dorm instance; comparing them too keeps any instance exact.
func (p *Problem) compileTypes(rows [][]int32) {
	index := make(map[string]int32)
	p.Apps = make([]App, len(p.Inst.Apps))
	var key []byte
	// O(applications x (kinds + classes)). First appearance makes the numbers of types, and with them every
	// search, independent of the order of the map.
	for i := range p.Inst.Apps {
		source := &p.Inst.Apps[i]
		key = Key(key[:0], source.Demand)
		// The bits are compared, not the numbers: types must be equal exactly, or an answer would depend on
		// which member came first.
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(source.Value))
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(source.Delta))
		for _, class := range source.Classes {
			key = binary.LittleEndian.AppendUint64(key, uint64(class))
		}
		if source.Classes != nil {
			key = append(key, 'c') // no class at all is not every class
		}
		for _, row := range rows[i] {
			key = binary.LittleEndian.AppendUint32(append(key, 'g'), uint32(row))
		}
		// The index makes the key unique: what is told apart by more than demand shares with nobody.
		if own(source) {
			key = binary.LittleEndian.AppendUint64(append(key, 'o'), uint64(i))
		}
		t, known := index[string(key)]
		if !known {
			t = int32(len(p.Types))
			index[string(key)] = t
			demanded := DemandType{Value: source.Value, Delta: source.Delta, classes: source.Classes, Uses: p.uses(source, rows[i])}
			if own(source) {
				demanded.Own = source
			}
			p.Types = append(p.Types, demanded)
			p.demand = append(p.demand, source.Demand...)
		}
		p.Types[t].Members = append(p.Types[t].Members, int32(i))
		p.Apps[i].Type = t
	}
}
