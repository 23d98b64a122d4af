// This file tests that the reasons of refusals are true, and that decisions survive JSON.

package primaldual

import (
	"math"
	"testing"

	"github.com/apportion/apportion/internal/must"
	"pgregory.net/rapid"
)

// checkReason holds the reason of a decision against its verdict: the inequality that it states does
// not hold, and there is a reason exactly where the job is refused.
func checkReason(t failer, d *Decision) {
	r := d.Reason
	if d.Admitted {
		if r.Constraint != "" || r.Text != "" {
			t.Fatalf("an admitted job has the reason %+v", r)
		}
		return
	}
	if r.Constraint != string(d.Verdict) || r.Text == "" {
		t.Fatalf("%v: reason %+v", d.Verdict, r)
	}
	switch d.Verdict {
	case BandwidthTooSmall, TooFewSlots, NoRoom:
		if r.Need <= r.Have {
			t.Fatalf("%v: %g needed, %g there", d.Verdict, r.Need, r.Have)
		}
	case FitsNoWorkerServer, FitsNoPSServer:
		must.Equal(t, r.Kind != "", (r.Need > r.Have), d.Verdict, "kind", r.Kind, r.Need, "needed", r.Have, "there")
	case TooExpensive:
		if r.Need != d.Cost || r.Have != d.Utility || r.Need < r.Have-1e-9*math.Abs(r.Have) {
			t.Fatalf("cost %g, utility %g, reason %+v", d.Cost, d.Utility, r)
		}
	}
}

func TestReasonsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream(t, tinySize, fromRapid(t), func(_ *Scheduler, _ Job, d Decision) { checkReason(t, &d) })
	})
}
