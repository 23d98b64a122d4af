// This file implements the thinned history of a run, which [Prospect] judges; it is not in the
// thesis.

package growth

// blocks is how many averages the history of a job holds. 32 leaves at least 8 for the second half
// of a run, enough for a line and its error, in half a kilobyte per job.
const blocks = 32

// history is a whole run thinned to at most 32 averages, each over the same number of
// evaluations. When it is full, neighbours are merged in pairs and the number doubles; so 16 to 31
// averages cover any length of run, and each is as free of noise as its length allows. Its fields
// are exported for encoding/json only.
type history struct {
	Work     [blocks]float64 `json:"work"`
	Value    [blocks]float64 `json:"value"`
	N        int             `json:"n"`       // averages
	Size     int             `json:"size"`    // evaluations in each; 0 before the first
	Pending  int             `json:"pending"` // evaluations gathered for the next average
	SumWork  float64         `json:"sum_work"`
	SumValue float64         `json:"sum_value"`
	Fresh    bool            `json:"fresh"` // whether the newest reading completed an average
}

// thin merges neighbours.
func (h *history) thin() {
	for i := range blocks / 2 {
		h.Work[i] = (h.Work[2*i] + h.Work[2*i+1]) / 2
		h.Value[i] = (h.Value[2*i] + h.Value[2*i+1]) / 2
	}
	h.N = blocks / 2
	h.Size *= 2
}

// add adds an evaluation: the work done until then and its value.
func (h *history) add(work, value float64) {
	h.Size = max(h.Size, 1)
	h.SumWork += work
	h.SumValue += value
	h.Pending++
	if h.Pending < h.Size {
		return
	}
	h.Work[h.N] = h.SumWork / float64(h.Size)
	h.Value[h.N] = h.SumValue / float64(h.Size)
	h.N++
	h.Pending, h.SumWork, h.SumValue, h.Fresh = 0, 0, 0, true
	if h.N == blocks {
		h.thin()
	}
}
