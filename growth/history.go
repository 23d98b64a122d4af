// This file implements the thinned history of a run, which evidence is made of; it is not in the
// thesis.

package growth

// blocks is how many averages the history of a job holds. 32 leaves at least 8 for the second half
// of a run, enough for a line and its error, in half a kilobyte per job.
const blocks = 32

// Point is an average of as many readings as every other point of a history.
type Point struct {
	// Work is the usage times seconds since the first reading, Value the evaluation function.
	Work, Value float64
}

// history is a whole run thinned to at most 31 averages, each over the same number of
// evaluations. When there would be 32, neighbours are merged in pairs and the number doubles; so 16 to 31
// averages cover any length of run, and each is as free of noise as its length allows. Its fields
// are exported for encoding/json only.
type history struct {
	Points  [blocks]Point `json:"points"`
	N       int           `json:"n"`       // averages
	Size    int           `json:"size"`    // evaluations in each; 0 before the first
	Pending int           `json:"pending"` // evaluations gathered for the next average
	Sum     Point         `json:"sum"`     // of those
}

// thin merges neighbours.
func (h *history) thin() {
	for i := range blocks / 2 {
		a, b := h.Points[2*i], h.Points[2*i+1]
		h.Points[i] = Point{(a.Work + b.Work) / 2, (a.Value + b.Value) / 2}
	}
	h.N = blocks / 2
	h.Size *= 2
}

// add adds an evaluation, and reports whether it completed an average. What is left out of the fit is at
// most the newest 1/16 of a run.
func (h *history) add(work, value float64) bool {
	h.Size = max(h.Size, 1)
	h.Sum.Work += work
	h.Sum.Value += value
	h.Pending++
	if h.Pending < h.Size {
		return false
	}
	h.Points[h.N] = Point{h.Sum.Work / float64(h.Size), h.Sum.Value / float64(h.Size)}
	h.N++
	h.Pending, h.Sum = 0, Point{}
	if h.N == blocks {
		h.thin()
	}
	return true
}
