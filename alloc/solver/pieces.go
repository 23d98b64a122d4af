// This file prices pieces, what an application has on one server, by their size: rows of dual feasible functions for the bound of
// [Program §14], [Gilmore61].

package solver

import (
	"math"
	"slices"
	"strconv"
)

const (
	// MostPieceUnits bounds the sizes of pieces that have prices.
	MostPieceUnits = 64
	// MostSplits bounds the pairs of a number of containers and a size of a piece that are looked at for one application.
	MostSplits = 1 << 14
)

// PiecePrices are prices on pieces by their size, for all servers that have as many whole units of a kind as there are prices: a piece
// of q units costs Price[q-1] there, of less than one unit nothing. Prices in proportion to q are those of Multipliers.Server; others
// tell a bound that what two large pieces leave of two servers is not room for a third one.
type PiecePrices struct {
	Kind  int       `json:"kind"`
	Unit  int64     `json:"unit"`
	Price []float64 `json:"price"`
}

// on returns whether server j has these prices.
func (p *PiecePrices) on(inst *Instance, j int) bool {
	return inst.Capacity[j][p.Kind]/p.Unit == int64(len(p.Price))
}

// of returns what n containers of a demand cost as one piece.
func (p *PiecePrices) of(n, demand int64) float64 {
	if q := n * demand / p.Unit; q > 0 {
		return p.Price[q-1]
	}
	return 0
}

// Fullest returns what the pieces of one server cost at most together: of those that fit, any number of each size, the choice of the
// highest price. most[q] says how much q units bring, last[q] which piece comes last then, 0: a unit is left empty. O(prices^2).
func (p *PiecePrices) Fullest() (most []float64, last []int) {
	most, last = make([]float64, len(p.Price)+1), make([]int, len(p.Price)+1)
	for q := 1; q <= len(p.Price); q++ {
		most[q] = most[q-1]
		for size, price := range p.Price[:q] {
			if sum := price + most[q-size-1]; sum > most[q] {
				most[q], last[q] = sum, size+1
			}
		}
	}
	return most, last
}

// checkPieces reports whether prices of pieces have a legal form.
func (m *Multipliers) checkPieces(inst *Instance) bool {
	return !slices.ContainsFunc(m.Pieces, func(p PiecePrices) bool {
		return p.Kind < 0 || p.Kind >= len(inst.Total) || p.Unit < 1 || len(p.Price) > MostPieceUnits || slices.ContainsFunc(p.Price, badPrice)
	})
}

// chargePieces returns what all servers charge for pieces at most.
func (m *Multipliers) chargePieces(inst *Instance) float64 {
	sum := 0.0
	for at := range m.Pieces {
		p := &m.Pieces[at]
		most, _ := p.Fullest()
		for j := range inst.Capacity {
			if p.on(inst, j) {
				sum += most[len(p.Price)]
			}
		}
	}
	return sum
}

// piece returns what n containers of a demand cost on server j as a piece.
func (m *Multipliers) piece(inst *Instance, i, j int, n int64) float64 {
	sum := 0.0
	for at := range m.Pieces {
		if p := &m.Pieces[at]; p.on(inst, j) {
			sum += p.of(n, inst.Apps[i].Demand[p.Kind])
		}
	}
	return sum
}

// splits returns what n containers of application i bring at most, by n from 0 to Max, where they are split into pieces for servers of
// which there may be any number, and a server costs at least each beyond the fewest:
//
//	split_i(n) = fewest_i(n) each + max over sizes that add up to n of the sum of max over j of x (v_i - e_i - p_j d_i) - piece_j(x) - each
//
// nil where pieces have no prices, or that is too long. It is no less than any solution brings, since that has fewest_i(n) pieces or
// more, and each is the least that one of its numbers loses by a server.
func (f *filler) splits(i int, net float64) []float64 {
	app := &f.inst.Apps[i]
	if f.Pieces == nil || app.Max > MostSplits {
		return nil
	}
	best := f.bestPieces(i, net)
	if app.Max*int64(len(best)) > MostSplits {
		return nil
	}
	each := app.LeastTorn()
	split := make([]float64, app.Max+1)
	for n := range split[1:] {
		n++
		split[n] = math.Inf(-1)
		for x, piece := range best[:min(n, len(best))] {
			split[n] = math.Max(split[n], split[n-x-1]+piece-each)
		}
	}
	if each > 0 {
		for n := range split {
			split[n] += float64(float64(app.Spread.Fewest(int64(n))) * each)
		}
	}
	return split
}

// bestPieces returns what a piece of x containers brings on the best server for it, at x-1. O(unlike servers x Max).
func (f *filler) bestPieces(i int, net float64) []float64 {
	var best []float64
	seen := make(map[string]bool)
	for j := range f.inst.Capacity {
		most, profit := min(f.inst.most(i, j, f.room[j]), f.inst.Apps[i].Max, MostSplits/f.inst.Apps[i].Max+1), f.profit(f.inst, i, j, net)
		key := strconv.AppendFloat(strconv.AppendInt(nil, most, 10), profit, 'x', -1, 64)
		for at := range f.Pieces {
			key = strconv.AppendBool(key, f.Pieces[at].on(f.inst, j))
		}
		if seen[string(key)] {
			continue
		}
		seen[string(key)] = true
		for x := int64(1); x <= most; x++ {
			if x > int64(len(best)) {
				best = append(best, math.Inf(-1))
			}
			best[x-1] = math.Max(best[x-1], float64(float64(x)*profit)-f.piece(f.inst, i, j, x))
		}
	}
	return best
}

// LeastTorn returns the least that the application loses by a server beyond the fewest with any number above 0.
func (a *App) LeastTorn() float64 {
	if a.Spread == nil || a.Spread.Lost != nil {
		return 0
	}
	each := math.Inf(1)
	for n := range a.Numbers() {
		if n > 0 {
			each = math.Min(each, a.Torn(n).Each)
		}
	}
	if math.IsInf(each, 1) {
		return 0
	}
	return each
}
