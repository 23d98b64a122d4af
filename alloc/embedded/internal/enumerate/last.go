// This file leaves out what the last row of an enumeration repeats.

package enumerate

// mostBegun bounds the beginnings of a row that are remembered, of some dozens of bytes each, and mostKinds the kinds of equal servers
// that they may lie between: where there are more, hardly any two beginnings are alike.
const mostBegun, mostKinds = 1 << 16, 2

// beginning is what counts of a row before server j: its containers, and the least that may follow on servers of each kind.
type beginning struct {
	j, n  int64
	least [mostKinds]int64
}

// lastRow remembers how the last row has begun. With nothing below it a row counts by its number of containers alone, where the
// application does not run and may be spread in any way. Of two beginnings with as many containers, behind which the same cells may
// have the same values, the second one leads to nothing that is preferred: the first one is smaller in lexicographic order.
type lastRow struct {
	counts bool // rows do count by their numbers alone
	// before[j] lists the servers before j that have a twin from j on which has none between, and after that twin.
	before [][][2]int
	begun  map[beginning]struct{}
}

// newLastRow returns what is known before there is a row.
func newLastRow(e *Enumeration) lastRow {
	r := lastRow{begun: make(map[beginning]struct{}), before: make([][][2]int, e.p.Servers+1)}
	if n := len(e.p.Apps); n > 0 {
		app := &e.p.Inst.Apps[n-1]
		r.counts = !app.Running && app.PerServer == 0 && app.MaxServers == 0 && app.Spread == nil && app.Classes == nil
	}
	for after, twin := range e.twin {
		for j := twin + 1; twin >= 0 && j <= after; j++ {
			r.before[j] = append(r.before[j], [2]int{twin, after})
			r.counts = r.counts && len(r.before[j]) <= mostKinds
		}
	}
	return r
}

// repeats reports whether the row x, with n containers before server j, has begun in such a way before; where not it will have.
// tied says which servers must have as much as their twins at least.
func (r *lastRow) repeats(x []int64, tied []bool, j int, n int64) bool {
	if !r.counts {
		return false
	}
	if j == 0 {
		clear(r.begun)
	}
	key := beginning{j: int64(j), n: n}
	for at, pair := range r.before[j] {
		// A server that is not tied to its twin may have anything.
		if tied[pair[1]] {
			key.least[at] = x[pair[0]]
		}
	}
	_, repeats := r.begun[key]
	if !repeats && len(r.begun) < mostBegun {
		r.begun[key] = struct{}{}
	}
	return repeats
}
