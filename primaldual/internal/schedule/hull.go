// This file implements the lower convex hull of a slot's costs.

package schedule

// vertex is a corner of a hull: y workers, and what they cost.
type vertex struct {
	workers int
	cost    float64
}

// hullSlack is how far, relatively, a point may lie below a chord and still count as lying on it;
// without it rounding would turn each straight stretch of prices into a chain of corners.
const hullSlack = 1e-14

// hulls holds one hull a distinct table of Tables, of C_t(y) - nu ceil(y b/B).
// All corners lie in one slice, whose memory stays from one job to the next.
type hulls struct {
	corners []vertex
	from    []int // hull i is corners[from[i]:from[i+1]]
}

func (h *hulls) reset() { h.corners, h.from = h.corners[:0], append(h.from[:0], 0) }

// of returns the hull of table i, from y = 0 to the last y.
func (h *hulls) of(i int) []vertex { return h.corners[h.from[i]:h.from[i+1]] }

// add appends the lower convex hull of table less nu times the parameter servers of j. O(len(table)).
func (h *hulls) add(table []float64, servers Servers, nu float64) {
	start := len(h.corners)
	for y, cost := range table {
		if nu != 0 {
			cost -= float64(nu * float64(servers.PSFor(int64(y))))
		}
		// Andrew's monotone chain: a corner that is not below the chord of its neighbours is none.
		v := vertex{y, cost}
		for n := len(h.corners); n-start >= 2 && !below(h.corners[n-2], h.corners[n-1], v); n-- {
			h.corners = h.corners[:n-1]
		}
		h.corners = append(h.corners, v)
	}
	h.from = append(h.from, len(h.corners))
}

// below reports whether b lies below the chord from a to c.
// What lies on the chord within hullSlack is no corner, so that equal prices make one edge; the error
// of that is far below the slack of a payoff.
func below(a, b, c vertex) bool {
	// Slopes are compared by cross products, since widths are whole and divisions would round.
	left := (b.cost - a.cost) * float64(c.workers-b.workers)
	right := (c.cost - b.cost) * float64(b.workers-a.workers)
	return left < right-float64(hullSlack*max(abs(left), abs(right)))
}

// slope returns the cost of one more worker between two corners.
func slope(a, b vertex) float64 { return (b.cost - a.cost) / float64(b.workers-a.workers) }

func abs(x float64) float64 { return max(x, -x) }
