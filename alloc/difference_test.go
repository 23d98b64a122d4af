package alloc

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// decisionOfTwo is a decision about "a", which runs, and "b", which waits; nothing in it is zero that a
// comparison could overlook.
func decisionOfTwo() *Decision {
	return &Decision{
		Status:     Decided,
		Allocation: Allocation{"a": {"s": 2, "t": 1}},
		Objective:  1.5,
		Bound:      2,
		Gap:        .25,
		Proven:     solver.ByNothing,
		Metrics: Metrics{
			Utilization: []float64{1, .5}, ResourceUtilization: 1.5, FairnessLoss: .125, Adjusted: 1, LossBudget: 1, AdjustBudget: 3,
		},
		Shares: []Share{
			{ID: "a", Containers: 3, Actual: .5, Theoretical: .625, Loss: .125, Adjusted: true},
			{ID: "b", Theoretical: .25, Loss: .25},
		},
		Waiting: []Waiting{{ID: "b", Reason: apportion.Reason{Text: "no room"}}},
	}
}

// Each field is compared, and a difference names the item, the field and both values; nothing else differs.
func TestDifferences(t *testing.T) {
	a := apportion.Item{Kind: "application", ID: "a"}
	b := apportion.Item{Kind: "application", ID: "b", Index: 1}
	waiting := apportion.Item{Kind: "application", ID: "b"}
	var whole apportion.Item
	for name, c := range map[string]struct {
		change func(d *Decision)
		want   Difference
	}{
		"status":        {func(d *Decision) { d.Status = Kept }, Difference{whole, "Status", "decided", "kept"}},
		"a count":       {func(d *Decision) { d.Allocation["a"]["t"] = 2 }, Difference{a, "Allocation[t]", "1", "2"}},
		"a server less": {func(d *Decision) { delete(d.Allocation["a"], "s") }, Difference{a, "Allocation[s]", "2", "0"}},
		"a server more": {func(d *Decision) { d.Allocation["a"]["u"] = 1 }, Difference{a, "Allocation[u]", "0", "1"}},
		"an application more": {func(d *Decision) { d.Allocation["c"] = map[string]int64{"s": 1} },
			Difference{apportion.Item{Kind: "application", ID: "c"}, "Allocation[s]", "0", "1"}},
		"objective":           {func(d *Decision) { d.Objective = 1.25 }, Difference{whole, "Objective", "1.5", "1.25"}},
		"no number":           {func(d *Decision) { d.Objective = math.NaN() }, Difference{whole, "Objective", "1.5", "NaN"}},
		"bound":               {func(d *Decision) { d.Bound = math.Inf(1) }, Difference{whole, "Bound", "2", "+Inf"}},
		"gap":                 {func(d *Decision) { d.Gap = 0 }, Difference{whole, "Gap", "0.25", "0"}},
		"rank":                {func(d *Decision) { d.Proven = solver.ByLoss }, Difference{whole, "Proven", "nothing", "loss"}},
		"fewer kinds":         {func(d *Decision) { d.Metrics.Utilization = []float64{1} }, Difference{whole, "Metrics.Utilization", "2", "1"}},
		"use of a kind":       {func(d *Decision) { d.Metrics.Utilization[1] = .75 }, Difference{whole, "Metrics.Utilization[1]", "0.5", "0.75"}},
		"utilization":         {func(d *Decision) { d.Metrics.ResourceUtilization = 1 }, Difference{whole, "Metrics.ResourceUtilization", "1.5", "1"}},
		"loss":                {func(d *Decision) { d.Metrics.FairnessLoss = .5 }, Difference{whole, "Metrics.FairnessLoss", "0.125", "0.5"}},
		"adjusted":            {func(d *Decision) { d.Metrics.Adjusted = 0 }, Difference{whole, "Metrics.Adjusted", "1", "0"}},
		"loss budget":         {func(d *Decision) { d.Metrics.LossBudget = 2 }, Difference{whole, "Metrics.LossBudget", "1", "2"}},
		"adjust budget":       {func(d *Decision) { d.Metrics.AdjustBudget = 4 }, Difference{whole, "Metrics.AdjustBudget", "3", "4"}},
		"fewer shares":        {func(d *Decision) { d.Shares = d.Shares[:1] }, Difference{whole, "Shares", "2", "1"}},
		"a name":              {func(d *Decision) { d.Shares[1].ID = "c" }, Difference{b, "Shares.ID", "b", "c"}},
		"containers":          {func(d *Decision) { d.Shares[1].Containers = 7 }, Difference{b, "Shares.Containers", "0", "7"}},
		"an actual share":     {func(d *Decision) { d.Shares[1].Actual = .5 }, Difference{b, "Shares.Actual", "0", "0.5"}},
		"a share due":         {func(d *Decision) { d.Shares[1].Theoretical = .5 }, Difference{b, "Shares.Theoretical", "0.25", "0.5"}},
		"a loss":              {func(d *Decision) { d.Shares[1].Loss = .5 }, Difference{b, "Shares.Loss", "0.25", "0.5"}},
		"an adjustment":       {func(d *Decision) { d.Shares[1].Adjusted = true }, Difference{b, "Shares.Adjusted", "false", "true"}},
		"nobody waits":        {func(d *Decision) { d.Waiting = nil }, Difference{waiting, "Waiting[0]", "b, left out false: no room", "none"}},
		"left out":            {func(d *Decision) { d.Waiting[0].LeftOut = true }, Difference{waiting, "Waiting[0]", "b, left out false: no room", "b, left out true: no room"}},
		"another reason":      {func(d *Decision) { d.Waiting[0].Reason.Text = "late" }, Difference{waiting, "Waiting[0]", "b, left out false: no room", "b, left out false: late"}},
		"another need":        {func(d *Decision) { d.Waiting[0].Reason.Need = 5 }, Difference{waiting, "Waiting[0].Reason.Need", "0", "5"}},
		"another kind":        {func(d *Decision) { d.Waiting[0].Reason.Kind = "gpu" }, Difference{waiting, "Waiting[0].Reason.Kind", "", "gpu"}},
		"what is held":        {func(d *Decision) { d.Shares[1].Guaranteed = 2 }, Difference{b, "Shares.Guaranteed", "0", "2"}},
		"a queue":             {func(d *Decision) { d.Queues = []QueueUse{{}} }, Difference{whole, "Queues", "0", "1"}},
		"one that was passed": {func(d *Decision) { d.Waiting[0].Passed = 2 }, Difference{waiting, "Waiting[0].Passed", "0", "2"}},
		"what is reserved":    {func(d *Decision) { d.Reservations = []Reservation{{}} }, Difference{whole, "Reservations", "0", "1"}},
		"one that yields":     {func(d *Decision) { d.Yielding = []string{"a"} }, Difference{whole, "Yielding", "", "a"}},
		"why kept":            {func(d *Decision) { d.Reason = &apportion.Reason{Text: "full"} }, Difference{whole, "Reason", "none", "full"}},
		"interrupted":         {func(d *Decision) { d.Interrupted = true }, Difference{whole, "Interrupted", "false", "true"}},
	} {
		recorded, replayed := decisionOfTwo(), decisionOfTwo()
		c.change(replayed)
		if found := differences(recorded, replayed); len(found) != 1 || found[0] != c.want {
			t.Errorf("%s: %v, want %v alone", name, found, c.want)
		}
	}
}

// What says the same is no difference: rounding, an entry of zero, an empty application, other prices.
func TestNoDifferences(t *testing.T) {
	for name, change := range map[string]func(d *Decision){
		"nothing":          func(*Decision) {},
		"rounding":         func(d *Decision) { d.Objective += solver.ObjectiveTolerance / 2 },
		"an entry of zero": func(d *Decision) { d.Allocation["a"]["u"] = 0 },
		"an empty entry":   func(d *Decision) { d.Allocation["c"] = nil },
		"another proof":    func(d *Decision) { d.Certificate.Multipliers = &solver.Multipliers{Loss: 3} },
	} {
		recorded, replayed := decisionOfTwo(), decisionOfTwo()
		change(replayed)
		if found := differences(recorded, replayed); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
	infinite := decisionOfTwo()
	infinite.Bound, infinite.Gap = math.Inf(1), math.Inf(1)
	if found := differences(infinite, infinite); len(found) > 0 {
		t.Errorf("an infinity differs from itself: %v", found)
	}
}

// Compared the other way round, the same fields differ, with the values exchanged.
func TestDifferencesAreSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, second := decisionOfTwo(), decisionOfTwo()
		for _, d := range []*Decision{first, second} {
			number := rapid.SampledFrom([]float64{0, .5, 1, math.Inf(1)})
			d.Objective, d.Bound, d.Metrics.FairnessLoss = number.Draw(t, "objective"), number.Draw(t, "bound"), number.Draw(t, "loss")
			d.Allocation[rapid.SampledFrom([]string{"a", "c"}).Draw(t, "id")] = map[string]int64{"s": rapid.Int64Range(0, 2).Draw(t, "count")}
			d.Shares[0].Containers = rapid.Int64Range(0, 1).Draw(t, "containers")
			d.Waiting = d.Waiting[:rapid.IntRange(0, 1).Draw(t, "waiting")]
		}
		there, back := differences(first, second), differences(second, first)
		if len(there) != len(back) {
			t.Fatalf("%v there, %v back", there, back)
		}
		for i := range there {
			if there[i].Field != back[i].Field || there[i].Recorded != back[i].Replayed || there[i].Replayed != back[i].Recorded {
				t.Errorf("%v there, %v back", there[i], back[i])
			}
		}
	})
}

func TestDifferenceString(t *testing.T) {
	d := Difference{apportion.Item{Kind: "application", ID: "lr"}, "Allocation[s1]", "3", "4"}
	if got := d.String(); got != `application "lr": Allocation[s1]: recorded 3, replayed 4` {
		t.Error(got)
	}
	d.Item = apportion.Item{}
	if got := d.String(); got != "Allocation[s1]: recorded 3, replayed 4" {
		t.Error(got)
	}
}
