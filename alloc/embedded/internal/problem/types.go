// This file groups applications by what they ask for: equal demands are one type.

package problem

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
