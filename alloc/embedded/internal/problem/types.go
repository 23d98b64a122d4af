// This file groups applications by what they ask for: equal demands are one type.

package problem

import (
	"encoding/binary"
	"math"
)

// DemandType is what applications with equal demands share.
type DemandType struct {
	Value, Delta float64
	Members      []int32
}

// App is one application as the search sees it.
type App struct {
	Type     int32
	Min, Max int64 // max is at most what the empty cluster holds
	Fair     int64 // floor(share / delta), at most max: the loss falls up to there
	share    float64
	Pinnable bool // running, and it may stay exactly as it is
	Held     int64
	HeldLoss float64
}

// DemandOf returns what a container of type t uses, by kind.
func (p *Problem) DemandOf(t int32) []int64 {
	return p.demand[int(t)*p.Kinds : (int(t)+1)*p.Kinds]
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
