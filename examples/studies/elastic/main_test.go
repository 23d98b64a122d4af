// This file runs the command, and tests what its tables are made of.

package main

import (
	"bytes"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/command/commandtest"
	"github.com/apportion/apportion/examples/studies/elastic/schedulers"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/simtest"
)

// TestRecords runs the commands of testdata/record, whose output the README shows, without the times that decisions took.
func TestRecords(t *testing.T) { commandtest.Records(t, run, withoutTimes) }

// times matches the table of how long the decisions of each policy took, whose lines are the indented ones.
var times = regexp.MustCompile(`(?m)^ +policy +decision +longest\n(?: +.+\n)+`)

func withoutTimes(text string) string { return times.ReplaceAllString(text, "") }

// read returns what was measured, and the workloads.
func read(t *testing.T) (*world, []*workload) {
	t.Helper()
	w := must.Have(readWorld())(t)
	loads := must.Have(readWorkloads())(t)
	return w, loads
}

// Each run prints its tables: names of workloads and policies, and the sums of them.
func TestQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for args, wants := range map[string][]string{
		"":           {"workload-3", "least attained", "Gavel", "Sia", "no curve", "rho", "against Dorm, as submitted"},
		"-others":    {"theta-c", "had no say", "Dorm, n_max at 0.7", "against the better threshold"},
		"-places":    {"roots, in blocks", "roots, by number", "roots, by servers", "logs, by number", "logs, by servers"},
		"-quality 1": {"worth  ", "by category  ", "by share ahead  ", "by the truth  "},
	} {
		var out bytes.Buffer
		must.Do(t, run(t.Context(), &out, io.Discard, append(strings.Fields(args), "-quick", "-out", t.TempDir())))
		for _, want := range wants {
			if n := strings.Count(out.String(), want); n < 1 || args == "-quality 1" && n < 2 {
				t.Errorf("%s: %d times %q in\n%s", args, n, want, &out)
			}
		}
	}
	must.Err(t, run(t.Context(), io.Discard, io.Discard, []string{"-quality", "-1"}), command.ErrUsage, "a negative number of draws")
}

// The stretches that had no say are others than those of the tables, and each is a workload of 160 jobs.
func TestOthers(t *testing.T) {
	_, loads := read(t)
	known := map[string]bool{}
	source := func(id string) string { return id[strings.LastIndex(id, "/")+1:] }
	for _, load := range loads {
		for _, job := range load.jobs {
			known[source(job.ID)] = true
		}
	}
	others := must.Have(readOthers())(t)
	must.Equal(t, len(others), len(otherShapes), "workloads")
	for _, load := range others {
		if len(load.jobs) != 160 || load.servers < 8 {
			t.Errorf("%s has %d jobs and %d servers", load.name, len(load.jobs), load.servers)
		}
		for _, job := range load.jobs {
			if known[source(job.ID)] {
				t.Errorf("job %s of %s is in the tables, or twice here", job.ID, load.name)
			}
			known[source(job.ID)] = true
		}
	}
}

// The workloads that had no say are played under what is compared with, and several types under what knows of types.
func TestLists(t *testing.T) {
	for want, list := range map[string][]entry{
		"least attained; Dorm, as submitted; Dorm, n_max at 0.5; Dorm, n_max at 0.7; worth": thresholds(),
		"least attained; Gavel; Sia; Dorm, as submitted; worth":                             onTypes(),
	} {
		var names []string
		for _, e := range list {
			names = append(names, e.name)
		}
		must.Equal(t, strings.Join(names, "; "), want)
	}
}

// small is the table of the policies without an optimizer on 25 jobs.
const small = `
          policy  workload-3  less  worst
          static        1603   0.0    0.0
  least attained        1603   0.0    0.0
   marginal gain        1405  12.3   12.3
             Sia        1407  12.3   12.3
`

func TestSmallTable(t *testing.T) {
	w, loads := read(t)
	loads[2].jobs = loads[2].jobs[:25]
	got := must.Have(w.playAll(t.Context(), loads[2:3], nil, contest()[:4], io.Discard))(t)
	var out bytes.Buffer
	got.means(&out, nameLAS)
	must.Equal(t, strings.Join(strings.Fields(out.String()), " "), strings.Join(strings.Fields(small), " "), out.String())
}

// Recorded batch sizes have their iterations; by the noise scale a larger batch takes fewer, but more samples.
func TestIterations(t *testing.T) {
	w, _ := read(t)
	cifar := w.trainings["cifar10"]
	must.Equal(t, iterationsAt(cifar, 2048), 3178)
	at := iterationsAt(cifar, 4096)
	if !(at < 3178 && 4096*at > 2048*3178) {
		t.Errorf("%v iterations of 4096", at)
	}
	// At the size that was recorded the formula is the record.
	if got := iterationsAt([]training{cifar[0], {cifar[0].base, 1024, 1, 1}}, 2048.0001); math.Abs(got-3178) > 1 {
		t.Error(got)
	}
}

// Every workload is a valid scenario on one type and on three; its jobs run at speed 1 on one GPU, as long as recorded on
// those that they asked for, and slower on a K80.
func TestScenarios(t *testing.T) {
	w, loads := read(t)
	for _, load := range loads {
		for _, accelerators := range [][]string{nil, types} {
			s, err := w.scenario(load, accelerators)
			if err != nil || s.Validate() != nil || len(s.Jobs) != 160 {
				t.Fatalf("%s: %d jobs, %v, %v", load.name, len(s.Jobs), err, s.Validate())
			}
			for i := range s.Jobs {
				j := &s.Jobs[i]
				at := func(h int) float64 { return j.SpeedOn([]apportion.Placement{{Server: h, Count: 1}}) }
				if accelerators == nil && math.Abs(at(0)-1) > 1e-9 || accelerators != nil && !(at(2) < at(1)) {
					t.Errorf("%s %s: speeds %v, %v, %v", load.name, j.ID, at(0), at(1), at(2))
				}
				if d := load.jobs[i].Duration; d.Known && accelerators == nil {
					if got := j.Work.Seconds() / j.SpeedOn(packed(j.Fixed)); math.Abs(got-d.Value.Seconds()) > 1 {
						t.Errorf("%s takes %v s, recorded %v", j.ID, got, d.Value)
					}
				}
			}
		}
	}
}

// What a policy does on measured speeds stands the referee of the simulator.
func TestReferee(t *testing.T) {
	w, loads := read(t)
	loads[1].jobs = loads[1].jobs[:30]
	s := must.Have(w.scenario(loads[1], types))(t)
	r := must.Have(sim.Run(t.Context(), s, &schedulers.Worth{Price: schedulers.Age, Power: power}))(t)
	must.Do(t, simtest.Check(s, r))
}

// The reduction is the mean over the workloads, and the least.
func TestReduction(t *testing.T) {
	of := func(times ...float64) []*played {
		var runs []*played
		for _, s := range times {
			runs = append(runs, &played{Measures: &schedulers.Measures{Mean: seconds(s)}})
		}
		return runs
	}
	if mean, worst := reduction(of(50, 110), of(100, 100)); math.Abs(mean-20) > 1e-9 || math.Abs(worst+10) > 1e-9 {
		t.Errorf("%v, %v", mean, worst)
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
