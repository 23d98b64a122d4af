// This file writes worths by number that are concave without a variable for each number: the worth is below every
// line that continues one of its pieces.

package program

import (
	"math"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// slopeNoise is how much a slope may rise, relative to the worths, and still count as equal: a line of tenths has such
// slopes, and a binary for each of its numbers would cost far more than that.
const slopeNoise = 1e-12

// piece is the line w = slope n + start.
type piece struct{ slope, start float64 }

// piecesOf returns the lines of the worths of an application, from the first number to the last; nil where they are
// not concave over all numbers that it may have, or there are none.
func piecesOf(app *solver.App) []piece {
	if app.Worth == nil {
		return nil
	}
	var pieces []piece
	before, last, any := int64(0), 0.0, false
	for n, extra := range app.Numbers() {
		if any {
			slope := (extra - last) / float64(n-before)
			next := piece{slope, last - float64(slope*float64(before))}
			noise := slopeNoise * math.Max(1, math.Abs(slope))
			switch end := len(pieces) - 1; {
			case end >= 0 && slope > pieces[end].slope+noise:
				return nil
			case end < 0 || slope < pieces[end].slope-noise:
				pieces = append(pieces, next)
			}
		}
		before, last, any = n, extra, true
	}
	// One number alone has no slope.
	if any && pieces == nil {
		pieces = []piece{{0, last}}
	}
	return pieces
}

// concave adds what n containers of application a are worth beside Value n, a variable w that is pressed up against
//
//	worth   w <= slope n + start, for every piece
//
// where starts count times 1 - z if stays is not nil: while the application stays n is 0, and so is w. On numbers that
// it may have the least of the lines is the worth, since it is concave; which those are is for other rows to say.
func (b *builder) concave(a int, n []milp.Term, pieces []piece, stays *milp.Var) {
	if pieces == nil {
		return
	}
	lower, upper := 0.0, 0.0
	for _, extra := range b.inst.Apps[a].Numbers() {
		lower, upper = math.Min(lower, extra), math.Max(upper, extra)
	}
	w := b.Continuous(lower, upper, name("w_a", a))
	b.cost = append(b.cost, term(w, 1))
	for p, line := range pieces {
		row := []milp.Term{term(w, 1)}
		if line.slope != 0 {
			for _, t := range n {
				row = append(row, term(t.Var, -line.slope))
			}
		}
		if stays != nil && line.start != 0 {
			row = append(row, term(*stays, line.start))
		}
		b.AtMost(name("worth_a", a, "_p", p), row, line.start)
	}
}
