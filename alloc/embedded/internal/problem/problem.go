// This file compiles a solver.Instance for the search: servers that hold as much of each type are one
// shape, and every application that runs is marked as one that may stay or must move, [Dorm §IV].

package problem

import (
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// Problem is an instance with flat vectors; it is read-only once built.
type Problem struct {
	Inst      *solver.Instance
	Kinds     int
	Servers   int
	Capacity  []int64 // server j, kind k at j*kinds+k
	Total     []int64 // kind k
	Types     []DemandType
	demand    []int64 // type t, kind k at t*kinds+k
	Apps      []App
	ShapeOf   []int32   // of a server
	shapes    int       // distinct rows of fits
	Fits      []int64   // containers of type t on an empty server of shape h at h*len(types)+t
	Residents [][]int32 // the pinnable applications on server j
	Holding   [][]int64 // how many containers each of them holds there
	// Residual[j*Kinds+k] is what server j has at most for applications that do not stay: of its residents
	// only budget may be freed, in each kind those that use most of it.
	Residual []int64
	// Budget is how many pinnable applications may be freed: AdjustBudget less those that must
	// move, at most the number of pinnable applications. Negative: infeasible.
	Budget   int64
	Pinnable int64
	MustMove []int
	// TieLoss is how much utilization one unit of loss is worth in the search: too little to
	// outweigh a container, enough to choose among equals.
	TieLoss float64
	// Step divides all utilizations, 0 where no such step is known; unit[k] divides what any application uses of kind k; 0 where none uses it.
	Step float64
	Unit []int64
}

// Fit returns how many containers of type t the empty server j holds.
func (p *Problem) Fit(j int, t int32) int64 {
	return p.Fits[int(p.ShapeOf[j])*len(p.Types)+int(t)]
}

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
	p.Budget = p.Inst.AdjustBudget
	for i := range p.Apps {
		a, source := &p.Apps[i], &p.Inst.Apps[i]
		a.Min, a.share = source.Min, source.Share
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
