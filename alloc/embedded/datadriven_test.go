package embedded

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
)

// TestCases solves the instances in testdata/cases. A case is
//
//	solve loss=1 adjust=1
//	server 4,1,16
//	app demand=1,0,2 min=1 max=6 share=0.75 held=0:2,1:1 displaced
//
// where held (0:2 is two containers on server 0) makes the application a running one.
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			inst := parseInstance(t, d)
			sol := solve(t, nil, inst)
			return describe(inst, sol)
		})
	})
}

func parseInstance(t *testing.T, d *datadriven.TestData) *solver.Instance {
	inst := &solver.Instance{LossBudget: 1, AdjustBudget: 1}
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "loss":
			inst.LossBudget = float(t, arg.Vals[0])
		case "adjust":
			inst.AdjustBudget = integer(t, arg.Vals[0])
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		words := strings.Fields(line)
		switch words[0] {
		case "server":
			inst.Capacity = append(inst.Capacity, resources(t, words[1]))
		case "app":
			inst.Apps = append(inst.Apps, parseApp(t, words[1:]))
		default:
			t.Fatalf("line %q", line)
		}
	}
	return instancetest.Finish(inst)
}

func parseApp(t *testing.T, words []string) solver.App {
	app := solver.App{Max: 1}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "demand":
			app.Demand = resources(t, value)
		case "min":
			app.Min = integer(t, value)
		case "max":
			app.Max = integer(t, value)
		case "share":
			app.Share = float(t, value)
		case "held":
			app.Cost = 1
			app.Running = true
			for _, at := range strings.Split(value, ",") {
				server, count, _ := strings.Cut(at, ":")
				app.Previous = append(app.Previous, apportion.Placement{Server: int(integer(t, server)), Count: integer(t, count)})
			}
		case "displaced":
			app.Cost = 1
			app.Running, app.Displaced = true, true
		default:
			t.Fatalf("word %q", word)
		}
	}
	return app
}

func resources(t *testing.T, text string) apportion.Resources {
	var r apportion.Resources
	for _, word := range strings.Split(text, ",") {
		r = append(r, integer(t, word))
	}
	return r
}

func integer(t *testing.T, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func float(t *testing.T, text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// describe prints an answer.
func describe(inst *solver.Instance, sol *solver.Solution) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%v, proven by %v\n", sol.Status, sol.Proven)
	if sol.Status.HasSolution() {
		fmt.Fprintf(&text, "utilization %.6g loss %.6g adjusted %d moved %d\n", sol.Objective,
			inst.FairnessLoss(sol.Counts), inst.AdjustedApps(sol.Counts), inst.Moved(sol.Counts))
	}
	for i, placed := range sol.Counts {
		fmt.Fprintf(&text, "app %d:", i)
		for _, p := range placed {
			fmt.Fprintf(&text, " %d:%d", p.Server, p.Count)
		}
		text.WriteString("\n")
	}
	return text.String()
}
