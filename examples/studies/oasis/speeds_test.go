// This file tests windows at measured speeds: what jobs do, what they say, and how a plan that believes otherwise is corrected.

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth/speedup"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/primaldual"
)

// A job is as fast as in its trace on as many workers as it had there, and never slower on more.
func TestScaled(t *testing.T) {
	linear, err := speedup.Cold(64)
	if err != nil {
		t.Fatal(err)
	}
	var steps []speedup.Observation
	for n := int64(1); n <= 32; n *= 2 {
		steps = append(steps, speedup.Observation{Containers: n, Servers: 1, Samples: 32, Seconds: 1 + 32/float64(n)})
	}
	bent, err := speedup.Fit(steps, nil)
	if err != nil {
		t.Fatal(err)
	}
	for had := int64(1); had <= 8; had++ {
		straight, err := scaled(linear, had, 4*had)
		if err != nil {
			t.Fatal(err)
		}
		curved, err := scaled(bent, had, 4*had)
		if err != nil {
			t.Fatal(err)
		}
		for n := range straight {
			if math.Abs(straight[n]-float64(n)) > 1e-9 {
				t.Errorf("linear, %d workers: %g", n, straight[n])
			}
			if n > 0 && curved[n] < curved[n-1] || n > int(had) && curved[n] >= float64(n) || n > 0 && n < int(had) && curved[n] <= float64(n) {
				t.Errorf("had %d: %d workers do %g, one fewer %g", had, n, curved[n], curved[max(n-1, 0)])
			}
		}
		if math.Abs(curved[had]-float64(had)) > 1e-9 {
			t.Errorf("had %d: does %g", had, curved[had])
		}
	}
}

// single is a workload of one job of 8 worker-slots that runs on up to 8 workers, of which 8 do what 4 should: it is worth 10
// if it ends within some slots after its arrival.
func single(within int) *measured {
	load := &workload{cluster: traceCluster(8), workers: []int64{2}}
	load.cluster.Slots = 6
	load.jobs = []primaldual.Job{{
		ID: "job", Arrival: 1, Epochs: 1, Chunks: 8, Minibatches: 1, MinibatchSlots: 1, WorkerBandwidth: 1, PSBandwidth: perPS,
		Worker: apportion.Resources{1, 0}, PS: apportion.Resources{0, 1}, Utility: primaldual.Steps{{Within: within, Value: 10}},
	}}
	speeds := []float64{0, 1, 2, 2.5, 3, 3.25, 3.5, 3.75, 4}
	return &measured{workload: load, speeds: [][]float64{speeds}, stated: []primaldual.Job{stating(&load.jobs[0], speeds)}}
}

func TestStating(t *testing.T) {
	m := single(1)
	m.speeds[0][6] = m.speeds[0][5] // a way that is no faster is none
	j := stating(&m.jobs[0], m.speeds[0])
	if err := j.Validate(m.cluster.Kinds); err != nil {
		t.Fatal(err)
	}
	if j.Units != 8*fineness || len(j.Speeds) != 7 {
		t.Errorf("%d units, %d ways", j.Units, len(j.Speeds))
	}
	for _, way := range j.Speeds {
		if way.Units != int64(math.Floor(fineness*m.speeds[0][way.Workers])) || way.PS != (way.Workers+3)/4 {
			t.Errorf("%+v", way)
		}
	}
}

// Eight workers need two slots and not one: who knows it promises so. Who believes in linear speed offers the rest again, which
// he takes for four workers in one slot and which is two slots of them: in time where there is some to spare. A plan that
// nobody corrects ends nothing.
func TestLinearIsCorrected(t *testing.T) {
	for _, test := range []struct {
		within                 int
		known, linear, uncared float64
	}{{0, 0, 0, 0}, {1, 10, 0, 0}, {2, 10, 10, 0}} {
		m := single(test.within)
		for _, policy := range []struct {
			name   string
			policy sim.Policy
			want   float64
		}{
			{"known", m.learns(2, true), test.known}, {"linear", m.learns(2, false), test.linear},
			{"not corrected", &learned{}, test.uncared},
		} {
			if got, err := m.earns(t.Context(), policy.policy); err != nil || got != policy.want {
				t.Errorf("%s, within %d: %g, %v, want %g", policy.name, test.within, got, err, policy.want)
			}
		}
	}
}

// A job that is faster than believed ends early, and its slots are free for the next one.
func TestFasterThanBelieved(t *testing.T) {
	m := single(0)
	// One worker does the work of four: the first job ends in the first of eight slots.
	m.cluster.WorkerServers[0].Capacity = apportion.Resources{1, 0}
	m.cluster.Slots = 8
	m.jobs[0].Utility = primaldual.Constant(10)
	m.speeds[0] = []float64{0, 8, 8, 8, 8, 8, 8, 8, 8}
	second := m.jobs[0]
	second.ID, second.Arrival, second.Utility = "second", 2, primaldual.Steps{{Within: 6, Value: 5}}
	second.MinibatchSlots = 0.5
	m.jobs, m.workers, m.speeds = append(m.jobs, second), append(m.workers, 1), append(m.speeds, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8})
	if got, err := m.earns(t.Context(), m.learns(0, false)); err != nil || got != 15 {
		t.Errorf("earned %g, %v", got, err)
	}
}

// smallSpeeds writes step times of a model that is nearly linear and of one that is not.
func smallSpeeds(t *testing.T) string {
	folder := t.TempDir()
	for name, columns := range map[string]string{
		"pollux_placements.csv.gz": "app,placement,gpus,nodes,local_bsz,step_s,sync_s", "pollux_scalability.csv.gz": "app,nodes,gpus,local_bsz,step_s,sync_s",
	} {
		var text bytes.Buffer
		zip := gzip.NewWriter(&text)
		fmt.Fprintln(zip, columns)
		for n := 1; n <= 16; n *= 2 {
			for model, lost := range map[string]float64{"flat": 0.001, "steep": 0.2} {
				seconds := 0.1 + lost*float64(n-1)
				if strings.Contains(columns, "placement") {
					fmt.Fprintf(zip, "%s,%d,%d,1,32,%g,0.001\n", model, min(n, 8), n, seconds)
				} else {
					fmt.Fprintf(zip, "%s,1,%d,32,%g,0.001\n", model, n, seconds)
				}
			}
		}
		if err := zip.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// The whole command on small traces and speeds: every policy has a row, and a bad folder is an error.
func TestRunSpeeds(t *testing.T) {
	folder := smallTraces(t)
	var stdout strings.Builder
	if err := run(t.Context(), &stdout, io.Discard, []string{"-windows", folder, "-speeds", smallSpeeds(t), "-every", "9"}); err != nil {
		t.Fatal(err)
	}
	for i := range planners {
		if !strings.Contains(stdout.String(), "\n"+planners[i].name) {
			t.Errorf("no row for %s in\n%s", planners[i].name, stdout.String())
		}
	}
	for _, bad := range [][]string{{"-windows", folder, "-speeds", t.TempDir()}, {"-windows", t.TempDir(), "-speeds", smallSpeeds(t)}} {
		if err := run(t.Context(), io.Discard, io.Discard, bad); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

// A job that is behind by four worker-slots is planned again with four more; the rest of one is worth what the job was.
func TestCorrect(t *testing.T) {
	m := single(5)
	m.jobs[0].MinibatchSlots = 3 // three slots of eight workers
	scenario, err := sim.FromSlots(m.cluster, m.jobs, m.workers, slotLength)
	if err != nil {
		t.Fatal(err)
	}
	s, err := primaldual.NewScheduler(m.cluster, nil, &primaldual.SchedulerOptions{Learn: &primaldual.Learning{}})
	if err != nil {
		t.Fatal(err)
	}
	l := &learned{scheduler: s, schedules: map[string]primaldual.Schedule{}}
	if admitted, err := l.take(m.jobs[0]); err != nil || !admitted {
		t.Fatal(admitted, err)
	}
	job := sim.JobState{Job: &scenario.Jobs[0], Left: 20 * slotLength}
	if err := l.correct(&sim.State{Scenario: scenario, Now: slotLength, Jobs: []sim.JobState{job}}, 2); err != nil {
		t.Fatal(err)
	}
	if got := l.schedules["job"].WorkerSlots(); got != 20 {
		t.Errorf("%d worker-slots are planned, want 20: %v", got, l.schedules["job"])
	}
	rest := l.restOf(&job, 4, slotLength)
	if rest.WorkerSlots() != 20 || rest.Arrival != 4 || rest.Utility.Value(2) != 10 || rest.Utility.Value(3) != 0 {
		t.Errorf("the rest has %d worker-slots from slot %d, worth %g, then %g", rest.WorkerSlots(), rest.Arrival, rest.Utility.Value(2), rest.Utility.Value(3))
	}
}
