// This file prices pieces, what an application has on one server, by their size, as solver.PiecePrices state it: column generation's
// dual for servers that hold a few whole units of a kind each, [Gilmore61].

package lagrange

import (
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

// pieces are the prices of a Dual on pieces. There are as many lists of prices as servers have numbers of whole units.
type pieces struct {
	lists   []solver.PiecePrices // Price is a part of the multipliers evaluated last
	at      []int                // where the prices of each begin in the multipliers
	servers []float64            // with each
	of      []int                // the list of a class of servers
	splits  []split              // by application; those without price have none
}

// split is how the containers of one application are split into pieces at the prices evaluated last.
type split struct {
	each  float64   // what a server beyond the fewest costs at least
	few   []float64 // by number: that times the fewest servers
	value []float64 // by number: what they bring
	last  []int32   // by number: the last piece
	class []int32   // by size, from 1 on: the class of servers that is best for it
}

// WithPieces adds prices on pieces to a Dual that has no options and about which nothing has been decided, by the kind that is scarcest for
// most applications that lose something by their servers. It reports whether there are any.
func (d *Dual) WithPieces() bool {
	kind := d.pieceKind()
	if kind < 0 {
		return false
	}
	p, at := d.Problem, len(d.slope)-1
	d.pieces = &pieces{of: make([]int, len(d.Size)), splits: make([]split, len(p.Apps))}
	for g := range d.Size {
		d.pieces.of[g] = -1
	}
	lists := make(map[int64]int)
	for j, g := range d.ClassOf {
		units := p.Capacity[j*p.Kinds+kind] / p.Unit[kind]
		list, known := lists[units]
		if !known {
			list = len(lists)
			lists[units] = list
			d.pieces.lists = append(d.pieces.lists, solver.PiecePrices{Kind: kind, Unit: p.Unit[kind], Price: make([]float64, units)})
			d.pieces.at, d.pieces.servers = append(d.pieces.at, at), append(d.pieces.servers, 0)
			at += int(units)
		}
		d.pieces.servers[list]++
		d.pieces.of[g] = list
	}
	d.slope = make([]float64, at+1)
	for i := range p.Apps {
		d.pieces.splits[i] = d.newSplit(int32(i))
	}
	return true
}

// pieceKind returns the kind that limits how many containers an empty server holds of most applications that lose something by their
// servers; -1 where there is none, where that has too many units on a server, or where servers of one class have unlike numbers of them.
func (d *Dual) pieceKind() int {
	p := d.Problem
	votes := make([]int, p.Kinds)
	for t := range p.Types {
		if p.Types[t].Own == nil || p.Types[t].Own.Spread == nil {
			continue
		}
		scarcest, fewest := -1, int64(math.MaxInt64)
		for k, q := range p.DemandOf(int32(t)) {
			if q > 0 && p.Total[k]/q < fewest {
				scarcest, fewest = k, p.Total[k]/q
			}
		}
		votes[scarcest]++
	}
	kind := 0
	for k := range votes {
		if votes[k] > votes[kind] {
			kind = k
		}
	}
	if votes[kind] == 0 {
		return -1
	}
	units := make([]int64, len(d.Size))
	for j, g := range d.ClassOf {
		n := p.Capacity[j*p.Kinds+kind] / p.Unit[kind]
		if n > solver.MostPieceUnits || units[g] > 0 && units[g] != n {
			return -1
		}
		units[g] = n
	}
	return kind
}

// newSplit returns the split of application i with all that does not depend on prices; one without numbers where it is too large.
func (d *Dual) newSplit(i int32) split {
	p, a := d.Problem, &d.Problem.Apps[i]
	largest := int64(0)
	for g := range d.Size {
		largest = max(largest, d.capOf(a.Type)[g]/d.Size[g])
	}
	if largest = min(largest, a.Max); a.Max > solver.MostSplits || a.Max*largest > solver.MostSplits {
		return split{}
	}
	s := split{each: p.Inst.Apps[i].LeastTorn(), few: make([]float64, a.Max+1), value: make([]float64, a.Max+1), last: make([]int32, a.Max+1), class: make([]int32, largest+1)}
	if s.each > 0 {
		for n := range s.few {
			s.few[n] = float64(float64(p.Inst.Apps[i].Spread.Fewest(int64(n))) * s.each)
		}
	}
	return s
}

// chargePieces takes the prices on pieces from x, and returns what servers charge for pieces at most, with its slope.
func (d *Dual) chargePieces(x []float64) float64 {
	sum := 0.0
	for l := range d.pieces.lists {
		list, at := &d.pieces.lists[l], d.pieces.at[l]
		copy(list.Price, x[at:])
		clear(d.slope[at : at+len(list.Price)])
		most, last := list.Fullest()
		q := len(list.Price)
		sum += float64(d.pieces.servers[l] * most[q])
		for q > 0 {
			if size := last[q]; size > 0 {
				d.slope[at+size-1] += d.pieces.servers[l]
				q -= size
			} else {
				q--
			}
		}
	}
	return sum
}

// sizeOf returns where the price of a piece of n containers of type t on class g is in the multipliers; -1: it costs nothing.
func (d *Dual) sizeOf(t int32, g int, n int64) int {
	list := d.pieces.of[g]
	p := &d.pieces.lists[list]
	if q := n * d.Problem.DemandOf(t)[p.Kind] / p.Unit; q > 0 {
		return d.pieces.at[list] + int(q) - 1
	}
	return -1
}

// piecePrice returns what that costs at x.
func (d *Dual) piecePrice(x []float64, t int32, g int, n int64) float64 {
	if at := d.sizeOf(t, g, n); at >= 0 {
		return x[at]
	}
	return 0
}

// bestSplit is best where pieces have prices: it leaves the split. O(Max x sizes + classes x sizes).
func (d *Dual) bestSplit(x []float64, i int32) (int64, float64) {
	a, s := &d.Problem.Apps[i], &d.pieces.splits[i]
	t := a.Type
	pieces := make([]float64, len(s.class)) // by size: what it brings
	for n := range pieces {
		pieces[n] = math.Inf(-1)
	}
	for g := range d.Size {
		profit, most := d.profit(x, t, g), d.capOf(t)[g]/d.Size[g]
		for n := int64(1); n <= min(most, int64(len(s.class)-1)); n++ {
			if value := float64(float64(n)*profit) - d.piecePrice(x, t, g, n) - s.each; value > pieces[n] {
				pieces[n], s.class[n] = value, int32(g)
			}
		}
	}
	for n := 1; n < len(s.value); n++ {
		s.value[n] = math.Inf(-1)
		for size := 1; size <= min(n, len(pieces)-1); size++ {
			if value := s.value[n-size] + pieces[size]; value > s.value[n] {
				s.value[n], s.last[n] = value, int32(size)
			}
		}
	}
	return d.bestNumber(x, i)
}

// bestNumber returns the number whose split is best, and what that brings.
func (d *Dual) bestNumber(x []float64, i int32) (int64, float64) {
	a, app, s := &d.Problem.Apps[i], &d.Problem.Inst.Apps[i], &d.pieces.splits[i]
	at, best, price := int64(0), math.Inf(-1), d.lossPrice(x)
	for n := app.AtLeast(a.Min); n >= 0 && n <= a.Max; n = app.AtLeast(n + 1) {
		value := s.value[n] + s.few[n] + app.Extra(n) - float64(price*d.Problem.Loss(i, n))
		if value > best {
			at, best = n, value
		}
	}
	return at, best
}

// useSplit takes what the best number of application i uses and loses from from.
func (d *Dual) useSplit(i int32, from []float64) {
	t, s, n := d.Problem.Apps[i].Type, &d.pieces.splits[i], d.count[i]
	from[len(from)-1] -= d.Problem.Loss(i, n)
	for n > 0 {
		size := s.last[n]
		if size == 0 {
			return // it has no place at all
		}
		d.usePiece(t, int(s.class[size]), int64(size), from)
		n -= int64(size)
	}
}

// usePiece takes a piece of n containers of type t on class g from from.
func (d *Dual) usePiece(t int32, g int, n int64, from []float64) {
	d.use(t, g, n, from)
	if d.pieces == nil {
		return
	}
	if at := d.sizeOf(t, g, n); at >= 0 {
		from[at]--
	}
}

// splitsUp reports whether application i is evaluated by pieces.
func (d *Dual) splitsUp(i int32) bool { return d.pieces != nil && d.pieces.splits[i].value != nil }

// prices returns the lists evaluated last, in fresh slices.
func (s *pieces) prices() []solver.PiecePrices {
	lists := slices.Clone(s.lists)
	for l := range lists {
		lists[l].Price = slices.Clone(lists[l].Price)
	}
	return lists
}
