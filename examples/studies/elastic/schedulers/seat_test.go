// This file tests how jobs are seated: what is taken, kept, let go of, and refused.

package schedulers

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// Whatever is wanted that fits together, of containers of one size, is given: who stays is not mentioned and all others
// hold just what they want, on their type.
func TestPropSettle(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	moved, stayed := 0, 0
	for range 300 {
		s := scenario(servers(4, "v", "k", "v", "k"))
		held := map[string][]apportion.Placement{}
		free := []int64{4, 4, 4, 4}
		left := []int64{8, 8} // by type
		var wants []want
		for i := range 5 {
			id := fmt.Sprint("j", i)
			s.Jobs = append(s.Jobs, job(id, 0, 100, 1, 8))
			held[id] = nil
			if h := rng.IntN(4); free[h] > 0 && rng.IntN(2) == 0 {
				n := 1 + rng.Int64N(free[h])
				held[id], free[h] = on(h, n), free[h]-n
			}
			if w := (want{i, 1 + rng.Int64N(4), rng.IntN(2)}); w.n <= left[w.kind] {
				wants, left[w.kind] = append(wants, w), left[w.kind]-w.n
			}
		}
		state := at(s, 0, held)
		b := opened(t, state)
		after := held
		for _, p := range settle(b, state, wants).Places {
			after[p.Job] = p.On
			moved++
		}
		for _, w := range wants {
			job := &state.Jobs[w.job]
			n := int64(0)
			for _, p := range after[job.ID] {
				n += p.Count
				must.Equal(t, b.kindOf[p.Server], w.kind, job.ID, "wants type", "and is on", after[job.ID])
			}
			must.Equal(t, n, w.n, job.ID, "wants", "and has", after[job.ID])
			if job.Containers == w.n && b.kind(job) == w.kind {
				stayed++
				must.Equal(t, fmt.Sprint(after[job.ID]), fmt.Sprint(job.Places), job.ID, "has what it wants and was moved from")
			}
			delete(after, job.ID)
		}
		for id, on := range after {
			if len(on) > 0 {
				t.Fatalf("%s wants nothing and has %v", id, on)
			}
		}
	}
	if moved == 0 || stayed == 0 {
		t.Errorf("%d moved, %d stayed", moved, stayed)
	}
}
