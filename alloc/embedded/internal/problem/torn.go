// This file says what applications lose by the servers that they are on, [Program §14].

package problem

import (
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

// Torn returns what n containers of type t lose on so many servers.
func (p *Problem) Torn(t int32, n, servers int64) float64 {
	torn := p.TornWith(t, n)
	return torn.On(servers)
}

// TornWith returns what n containers of type t lose by their servers.
func (p *Problem) TornWith(t int32, n int64) solver.Torn {
	demanded := &p.Types[t]
	switch {
	case demanded.Own == nil || demanded.Own.Spread == nil:
		return solver.Torn{}
	case n < int64(len(demanded.torn)):
		return demanded.torn[n]
	}
	return demanded.tornWith(n)
}

// tornWith computes one. A number between two that the member may have counts as the next one, to which a search is on its way.
func (t *DemandType) tornWith(n int64) solver.Torn {
	if next := t.Own.AtLeast(n); next >= 0 {
		return t.Own.Torn(next)
	}
	return t.Own.Torn(t.Own.AtMost(n))
}

// mostTorn returns no less than what an application can lose by its servers.
func (p *Problem) mostTorn(app *solver.App) float64 {
	if app.Spread == nil {
		return 0
	}
	most := 0.0
	for _, lost := range app.Spread.Lost {
		for _, w := range lost {
			most = math.Max(most, w)
		}
	}
	worth := app.Value * float64(app.Max)
	for n := range app.Worth {
		worth = math.Max(worth, float64(app.Value*float64(app.Max))+app.Worth[n]-app.Idle)
	}
	return math.Max(most, float64(p.Servers)*math.Max(app.Spread.Least, app.Spread.Part*worth))
}
