package solver_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// genPrice draws a price: often 0, sometimes large.
func genPrice(t *rapid.T, name string) float64 {
	return rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 1), rapid.Float64Range(0, 20)).Draw(t, name)
}

// genMultipliers draws prices for an instance.
func genMultipliers(t *rapid.T, inst *solver.Instance) *solver.Multipliers {
	m := &solver.Multipliers{Loss: genPrice(t, "loss"), Server: make([][]float64, len(inst.Capacity))}
	for j := range m.Server {
		for range inst.Total {
			m.Server[j] = append(m.Server[j], genPrice(t, "server"))
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "lists of prices on pieces") {
		// As many as some server has units, and of a unit that need not divide anything.
		kind, unit := rapid.IntRange(0, len(inst.Total)-1).Draw(t, "kind"), rapid.Int64Range(1, 3).Draw(t, "unit")
		list := solver.PiecePrices{Kind: kind, Unit: unit}
		j := rapid.IntRange(0, len(inst.Capacity)-1).Draw(t, "server")
		for range min(inst.Capacity[j][kind]/unit, solver.MostPieceUnits) {
			list.Price = append(list.Price, genPrice(t, "piece"))
		}
		m.Pieces = append(m.Pieces, list)
	}
	return m
}

// genCopies draws prices of both signs for containers, and prices for room.
func genCopies(t *rapid.T, inst *solver.Instance) *solver.CopyPrices {
	m := &solver.CopyPrices{Loss: genPrice(t, "loss"), Room: make([][]float64, len(inst.Apps))}
	for i := range inst.Apps {
		m.Container = append(m.Container, rapid.Float64Range(-2, 2).Draw(t, "container"))
		for range inst.Apps[i].Previous {
			m.Room[i] = append(m.Room[i], genPrice(t, "room"))
		}
	}
	return m
}

// Whatever the prices are, no solution exceeds a bound; where there is no solution any bound is right.
// Reference: [Dorm] P2, weak duality.
func TestBoundsHoldForAnyPrices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.SampledFrom([]func(uint64) *solver.Instance{solvertest.Small, solvertest.Spread}).Draw(t, "draw")
		inst := draw(rapid.Uint64Range(0, 5000).Draw(t, "instance"))
		best, _ := p2oracle.Best(inst)
		if best == nil {
			return
		}
		optimum := inst.Objective(best)
		c := solver.Certificate{Multipliers: genMultipliers(t, inst), Copies: genCopies(t, inst)}
		dual, err := solver.DualBound(inst, c.Multipliers)
		if err != nil || dual < optimum-solver.ObjectiveTolerance {
			t.Errorf("DualBound %.12g, %v; the optimum is %.12g", dual, err, optimum)
		}
		copies, err := solver.CopyBound(inst, c.Copies)
		if err != nil || copies < optimum-solver.ObjectiveTolerance {
			t.Errorf("CopyBound %.12g, %v; the optimum is %.12g", copies, err, optimum)
		}
		if inst.Cap() < optimum-solver.ObjectiveTolerance {
			t.Errorf("cap %.12g, the optimum is %.12g", inst.Cap(), optimum)
		}
		if certified, err := c.Certified(inst); err != nil || certified != math.Min(inst.Cap(), math.Min(dual, copies)) {
			t.Errorf("certified %.12g, %v; the bounds are %.12g, %.12g and %.12g", certified, err, dual, copies, inst.Cap())
		}
	})
}

// More room never lowers what the same prices prove.
func TestBoundsGrowWithRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := solvertest.Small(rapid.Uint64Range(0, 5000).Draw(t, "instance"))
		m := genMultipliers(t, inst)
		before := must.Have(solver.DualBound(inst, m))(t)
		inst.LossBudget += rapid.Float64Range(0, 2).Draw(t, "more loss")
		inst.AdjustBudget += rapid.Int64Range(0, 2).Draw(t, "more adjusted")
		after, err := solver.DualBound(inst, m)
		if err != nil || after < before-solver.ObjectiveTolerance {
			t.Errorf("DualBound %.12g with more room, %v; %.12g before", after, err, before)
		}
	})
}

// The metrics of counts are sums over applications, and nothing moved means nobody was adjusted.
func TestMetricsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := solvertest.Small(rapid.Uint64Range(0, 5000).Draw(t, "instance"))
		best, _ := p2oracle.Best(inst)
		if best == nil {
			return
		}
		adjusted, displaced, loss := int64(0), false, 0.0
		for i := range inst.Apps {
			app := &inst.Apps[i]
			if app.Adjusted(best[i]) {
				adjusted++
			}
			displaced = displaced || app.Displaced
			loss += app.Loss(solver.Containers(best[i]))
		}
		if adjusted != inst.AdjustedApps(best) || math.Abs(loss-inst.FairnessLoss(best)) > 1e-12 {
			t.Errorf("%d adjusted, loss %g; the instance says %d and %g", adjusted, loss, inst.AdjustedApps(best), inst.FairnessLoss(best))
		}
		if !displaced && (inst.Moved(best) == 0) != (adjusted == 0) {
			t.Errorf("%d moved, %d adjusted", inst.Moved(best), adjusted)
		}
	})
}
