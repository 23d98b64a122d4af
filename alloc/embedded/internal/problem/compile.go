// This file compiles a solver.Instance: servers that hold as much of each type are one shape, and every
// application that runs is marked as one that may stay or must move, [Dorm §IV].

package problem

import (
	"encoding/binary"
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// New compiles inst in O(servers + applications + shapes x types) times kinds.
func New(inst *solver.Instance) *Problem {
	p := &Problem{Inst: inst, Kinds: len(inst.Total), Servers: len(inst.Capacity), Total: inst.Total}
	p.compileTypes()
	p.Unit = make([]int64, p.Kinds)
	for at, q := range p.demand {
		p.Unit[at%p.Kinds] = gcd(p.Unit[at%p.Kinds], q)
	}
	p.compileServers()
	p.compileApps()
	return p
}

// compileServers counts what an empty server holds of each type alone, and groups the servers by that: real
// nodes differ by some KiB that nobody can use.
func (p *Problem) compileServers() {
	byCapacity, byFits := make(map[string]int32), make(map[string]int32)
	p.ShapeOf = make([]int32, p.Servers)
	p.Capacity = make([]int64, 0, p.Servers*p.Kinds)
	fits := make([]int64, len(p.Types))
	var key []byte
	for j, capacity := range p.Inst.Capacity {
		p.Capacity = append(p.Capacity, capacity...)
		key = Key(key[:0], capacity)
		h, known := byCapacity[string(key)]
		if !known {
			same := string(key)
			for t := range p.Types {
				fits[t] = apportion.Resources(p.DemandOf(int32(t))).CountIn(capacity)
			}
			key = Key(key[:0], fits)
			if h, known = byFits[string(key)]; !known {
				h = int32(len(byFits))
				byFits[string(key)] = h
				p.Fits = append(p.Fits, fits...)
			}
			byCapacity[same] = h
		}
		p.ShapeOf[j] = h
	}
	p.shapes = len(byFits)
}

// compileApps fills in bounds, what is held now, and who must move.
func (p *Problem) compileApps() {
	room := p.clusterRoom()
	p.Residents, p.Holding = make([][]int32, p.Servers), make([][]int64, p.Servers)
	p.compileBudget()
	for i := range p.Apps {
		a, source := &p.Apps[i], &p.Inst.Apps[i]
		a.Min, a.share = source.Min, source.Share
		// The searches know intervals alone: what may have none is held to no minimum, and the referee
		// has the last word on the numbers between.
		if source.Elective {
			a.Min = 0
		}
		a.Max = min(source.Max, room[a.Type])
		if source.Delta > 0 {
			a.Fair = int64(math.Min(source.Share/source.Delta, float64(a.Max)))
			a.Fair = min(a.Fair, a.Max)
		}
		if !source.Running {
			continue
		}
		a.Held = solver.Containers(source.Previous)
		a.HeldLoss = source.Loss(a.Held)
		// A change that costs nothing is for the search to make: there is nobody to be freed.
		if source.Cost == 0 {
			continue
		}
		a.Pinnable = p.canStay(i)
		if !a.Pinnable {
			p.Budget--
			p.MustMove = append(p.MustMove, i)
			continue
		}
		p.Pinnable++
		for _, placed := range source.Previous {
			p.Residents[placed.Server] = append(p.Residents[placed.Server], int32(i))
			p.Holding[placed.Server] = append(p.Holding[placed.Server], placed.Count)
		}
	}
	p.Budget = min(p.Budget, p.Pinnable)
	p.Residual = make([]int64, len(p.Capacity))
	p.ResidualCapacity(p.Residual, nil, p.Budget)
	p.TieLoss = p.lossWeight()
	p.Step = p.latticeStep()
}

// compileBudget counts how many applications may be adjusted, at the cost that they all have in common.
func (p *Problem) compileBudget() {
	unit := int64(1)
	for i := range p.Inst.Apps {
		if app := &p.Inst.Apps[i]; app.Running && app.Cost > 0 {
			unit = app.Cost
		}
	}
	p.Allowed = p.Inst.AdjustBudget / unit
	p.Budget = p.Allowed
}

// clusterRoom returns how many containers of each type the empty cluster holds, server by server.
func (p *Problem) clusterRoom() []int64 {
	size := make([]int64, p.shapes)
	for _, h := range p.ShapeOf {
		size[h]++
	}
	room := make([]int64, len(p.Types))
	for t := range room {
		for h, servers := range size {
			room[t] = AddSaturated(room[t], MulSaturated(servers, p.Fits[h*len(p.Types)+t]))
		}
	}
	return room
}

// compileTypes groups the applications by demand, in order of first appearance. Value and Delta
// follow from the demand in a Dorm instance; comparing them too keeps any instance exact.
func (p *Problem) compileTypes() {
	index := make(map[string]int32)
	p.Apps = make([]App, len(p.Inst.Apps))
	var key []byte
	for i := range p.Inst.Apps {
		source := &p.Inst.Apps[i]
		key = Key(key[:0], source.Demand)
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(source.Value))
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(source.Delta))
		t, known := index[string(key)]
		if !known {
			t = int32(len(p.Types))
			index[string(key)] = t
			p.Types = append(p.Types, DemandType{Value: source.Value, Delta: source.Delta})
			p.demand = append(p.demand, source.Demand...)
		}
		p.Types[t].Members = append(p.Types[t].Members, int32(i))
		p.Apps[i].Type = t
	}
}
