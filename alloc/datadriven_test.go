package alloc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion/alloc"
)

// TestCases runs the files of testdata/cases. Every command takes a problem as JSON:
//
//	decide    the decision: shares, allocation, what waits
//	plan      the steps from what runs to the decision
//	explain   why nobody has one container more
//	validate  the faults
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p := new(alloc.Problem)
			if err := json.Unmarshal([]byte(d.Input), p); err != nil {
				return err.Error() + "\n"
			}
			switch d.Cmd {
			case "validate":
				if err := p.Validate(); err != nil {
					return err.Error() + "\n"
				}
				return "ok\n"
			}
			decision, err := recorded(t, context.Background(), p, nil)
			if err != nil {
				return err.Error() + "\n"
			}
			switch d.Cmd {
			case "decide":
				return printDecision(decision)
			case "plan":
				return printPlan(alloc.NewPlan(p, decision.Allocation))
			case "explain":
				explanation, err := alloc.Explain(p, decision)
				if err != nil {
					t.Fatal(err)
				}
				return explanation.String()
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func printDecision(d *alloc.Decision) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, proven by %s: utilization %.6g, bound %.6g, loss %.6g of %.6g, %d adjusted of %d\n", d.Status, d.Proven,
		d.Objective, d.Bound, d.Metrics.FairnessLoss, d.Metrics.LossBudget, d.Metrics.Adjusted, d.Metrics.AdjustBudget)
	if d.Reason != nil {
		fmt.Fprintf(&text, "because %s\n", d.Reason.Text)
	}
	for _, s := range d.Shares {
		fmt.Fprintf(&text, "%s: %d containers, share %.6g of %.6g, adjusted %v:", s.ID, s.Containers, s.Actual, s.Theoretical, s.Adjusted)
		for _, server := range slices.Sorted(maps.Keys(d.Allocation[s.ID])) {
			fmt.Fprintf(&text, " %s=%d", server, d.Allocation[s.ID][server])
		}
		text.WriteString("\n")
	}
	for _, w := range d.Waiting {
		fmt.Fprintf(&text, "%s waits: %s\n", w.ID, w.Reason.Text)
	}
	return text.String()
}

func printPlan(plan *alloc.Plan) string {
	var text strings.Builder
	fmt.Fprintf(&text, "started %v, affected %v, suspended %v, finished %v\n", plan.Started, plan.Affected, plan.Suspended, plan.Finished)
	for _, s := range plan.Steps {
		fmt.Fprintln(&text, strings.TrimSpace(fmt.Sprintf("%-7s %s %s %s", s.Action, s.Application,
			strings.Join(s.Command, " "), onServer(s))))
	}
	return text.String()
}

func onServer(s alloc.Step) string {
	if s.Server == "" {
		return ""
	}
	return fmt.Sprintf("%d on %s", s.Containers, s.Server)
}
