// This file runs the scripts in testdata/cases.

package primaldual

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// script is the state of one file.
type script struct {
	cluster *Cluster
	bounds  Bounds
	s       *Scheduler
	jobs    []Job
	earned  float64
}

func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		var sc script
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return sc.run(t, d)
		})
	})
}

func (sc *script) run(t *testing.T, d *datadriven.TestData) string {
	var out strings.Builder
	switch d.Cmd {
	case "cluster":
		sc.setCluster(t, d)
	case "bounds": // of the jobs in the input, or given: U and L of workers, U and L of parameter servers
		sc.setBounds(t, d)
		fmt.Fprintf(&out, "workers U %.6g L %.6g, ps U %.6g L %.6g, alpha %.6g\n",
			sc.bounds.UWorker, sc.bounds.LWorker, sc.bounds.UPS, sc.bounds.LPS, sc.bounds.Alpha())
		s := must.Have(NewScheduler(sc.cluster, &sc.bounds, nil))(t)
		sc.s = s
	case "offer":
		for _, j := range parseJobs(t, d.Input) {
			decision, err := sc.s.Offer(j)
			if err != nil {
				fmt.Fprintln(&out, err)
				continue
			}
			sc.jobs = append(sc.jobs, j)
			if decision.Admitted {
				sc.earned += decision.Utility
			}
			writeDecision(&out, j.ID, decision)
		}
	case "certify":
		c, err := Certify(sc.s.Ledger(), sc.jobs, sc.earned, &CertificateOptions{Steps: -1})
		fmt.Fprintf(&out, "earned %.6g, at prices %.6g, scaled %.4g, zero %.6g (%v)\n", sc.earned, c.AtPrices, c.Scaled, c.Zero, err)
	case "prices":
		sc.writePrices(t, &out)
	default:
		sc.event(t, d, &out)
	}
	return out.String()
}

func (sc *script) event(t *testing.T, d *datadriven.TestData, out *strings.Builder) {
	var id string
	var slot int
	d.MaybeScanArgs(t, "id", &id)
	d.MaybeScanArgs(t, "slot", &slot)
	var err error
	switch d.Cmd {
	case "cancel":
		err = sc.s.Cancel(id)
	case "complete":
		var f Finish
		f, err = sc.s.Complete(id, slot)
		fmt.Fprintf(out, "%s ended in slot %d, utility %.6g\n", f.ID, f.Slot, f.Utility)
	case "advance":
		var ended []Finish
		ended, err = sc.s.Advance(slot)
		for _, f := range ended {
			fmt.Fprintf(out, "%s ended in slot %d, utility %.6g\n", f.ID, f.Slot, f.Utility)
		}
		fmt.Fprintf(out, "slots %d to %d\n", sc.s.First(), sc.s.Last())
	case "fail":
		var displaced []Displacement
		displaced, err = sc.s.Fail(id, slot)
		for _, p := range displaced {
			writeDecision(out, p.ID, p.Decision)
		}
	case "repair":
		err = sc.s.Repair(id, slot)
	default:
		t.Fatalf("unknown command %q", d.Cmd)
	}
	if err != nil {
		fmt.Fprintln(out, err)
	}
}

func writeDecision(out *strings.Builder, id string, d Decision) {
	fmt.Fprintf(out, "%s: %v", id, d.Verdict)
	if d.Admitted || d.Verdict == TooExpensive {
		fmt.Fprintf(out, ", slot %d: utility %.6g - cost %.6g, payoff %.6g", d.Completion, d.Utility, d.Cost, d.Payoff)
	}
	fmt.Fprintln(out)
	for _, plan := range d.Schedule {
		fmt.Fprintf(out, "  slot %d: workers %v ps %v, cost %.6g\n", plan.Slot, plan.Workers, plan.PS, plan.Price)
	}
}

func (sc *script) writePrices(t *testing.T, out *strings.Builder) {
	for slot := sc.s.First(); slot <= sc.s.Last(); slot++ {
		fmt.Fprintf(out, "slot %d:", slot)
		for _, side := range []Side{Workers, ParameterServers} {
			for h, server := range sc.cluster.servers(side) {
				fmt.Fprintf(out, " %s %.6g", server.ID, mustPrices(t, sc.s, side, slot, h))
			}
		}
		fmt.Fprintln(out)
	}
}

func (sc *script) setCluster(t *testing.T, d *datadriven.TestData) {
	*sc = script{cluster: &Cluster{}}
	d.ScanArgs(t, "slots", &sc.cluster.Slots)
	for _, arg := range d.CmdArgs {
		if arg.Key == "kinds" {
			sc.cluster.Kinds = arg.Vals
		}
	}
	for _, line := range strings.Split(d.Input, "\n") {
		words := strings.Fields(line)
		server := apportion.Server{ID: words[1], Capacity: parseVector(t, words[2])}
		if words[0] == "worker" {
			sc.cluster.WorkerServers = append(sc.cluster.WorkerServers, server)
		} else {
			sc.cluster.PSServers = append(sc.cluster.PSServers, server)
		}
	}
	must.Do(t, sc.cluster.Validate())
}

func (sc *script) setBounds(t *testing.T, d *datadriven.TestData) {
	if !d.HasArg("U") {
		sc.bounds = boundsOf(t, sc.cluster, parseJobs(t, d.Input), &BoundsOptions{Literal: d.HasArg("literal")})
		return
	}
	each := func(key string) []float64 {
		var x float64
		d.ScanArgs(t, key, &x)
		out := make([]float64, len(sc.cluster.Kinds))
		for r := range out {
			out[r] = x
		}
		return out
	}
	sc.bounds = Bounds{UWorker: each("U"), LWorker: each("L"), UPS: each("U"), LPS: each("L")}
}

// parseJobs reads jobs, one a line: id arrival=1 epochs=2 ...
func parseJobs(t *testing.T, text string) []Job {
	var jobs []Job
	for _, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		j := Job{ID: words[0], Arrival: 1, Epochs: 1, Chunks: 1, Minibatches: 1, WorkerBandwidth: 1, PSBandwidth: 1}
		for _, word := range words[1:] {
			key, value, _ := strings.Cut(word, "=")
			setField(t, &j, key, value)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

func setField(t *testing.T, j *Job, key, value string) {
	integers := map[string]*int64{"epochs": &j.Epochs, "chunks": &j.Chunks, "b": &j.WorkerBandwidth, "B": &j.PSBandwidth}
	var err error
	switch key {
	case "arrival":
		j.Arrival, err = strconv.Atoi(value)
	case "epochs", "chunks", "b", "B":
		*integers[key], err = strconv.ParseInt(value, 10, 64)
	case "m":
		j.MinibatchSlots, err = strconv.ParseFloat(value, 64)
	case "worker":
		j.Worker = parseVector(t, value)
	case "ps":
		j.PS = parseVector(t, value)
	case "f":
		j.Utility = table(parseFloats(t, value)...)
	case "sigmoid":
		g := parseFloats(t, value)
		j.Utility = Sigmoid{g[0], g[1], g[2]}
	case "constant":
		j.Utility = Constant(parseFloats(t, value)[0])
	default:
		t.Fatalf("unknown field %q", key)
	}
	must.Do(t, err)
}

func parseVector(t *testing.T, text string) apportion.Resources {
	var out apportion.Resources
	for _, x := range parseFloats(t, text) {
		out = append(out, int64(x))
	}
	return out
}

func parseFloats(t *testing.T, text string) []float64 {
	var out []float64
	for _, word := range strings.Split(text, ",") {
		x := must.Have(strconv.ParseFloat(word, 64))(t)
		out = append(out, x)
	}
	return out
}
