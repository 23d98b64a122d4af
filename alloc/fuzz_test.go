package alloc_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/apportion/apportion/alloc"
)

// Whatever a problem says, the answer is faults, or a decision that can be planned, explained, recorded and
// verified.
func FuzzReallocate(f *testing.F) {
	for _, p := range []*alloc.Problem{
		tiny(nil, "LR"),
		tiny(alloc.Allocation{"LR": {"s0": 2}, "MF": {"s0": 1, "s1": 2}}, "LR", "MF", "NN"),
	} {
		text, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	// Without servers there is no P2 by the paper's rule, and Verify must go the way of Reallocate.
	f.Add([]byte(`{"kinds":["gpu"],"applications":[{"id":"a","demand":[1],"max":1}],"options":{"paper_rule":true}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p := new(alloc.Problem)
		if json.Unmarshal(text, p) != nil || len(p.Servers) > 6 || len(p.Applications) > 6 || len(p.Kinds) > 4 {
			return
		}
		d, err := recorded(t, context.Background(), p, nil)
		if err != nil {
			if p.Validate() == nil {
				t.Fatalf("a valid problem gave %v", err)
			}
			return
		}
		if server := exceeds(p, d.Allocation); server != "" && d.Status == alloc.Decided {
			t.Errorf("server %s is overfilled", server)
		}
		if m, err := alloc.Measure(p, d.Allocation); err != nil || d.Status == alloc.Kept && m.FairnessLoss != d.Metrics.FairnessLoss {
			t.Errorf("measured %+v, %v; the decision says %+v", m, err, d.Metrics)
		}
		alloc.NewPlan(p, d.Allocation)
		record := reread(t, alloc.NewRecord(p, d))
		if proof, err := record.Verify(); err != nil || d.Status == alloc.Decided && proof.Bound < d.Objective-1e-9 {
			t.Errorf("verified as %+v, %v", proof, err)
		}
		if text := explain(t, p, d).String(); text == "" {
			t.Error("explained by nothing")
		}
	})
}
