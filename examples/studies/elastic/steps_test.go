// This file tests the parts of speeds and scenarios on measurements that are made by hand.

package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/internal/trace"
	"github.com/apportion/apportion/examples/studies/elastic/schedulers"
	"github.com/apportion/apportion/internal/must"
)

// hand is a model of which 1, 2 and 4 GPUs on one server and 4 on two were measured, with 8 and 16 samples each.
func hand() *model {
	m := &model{name: "hand", exact: map[string][]point{"13": {{8, 9, 1}}}, least: 8, most: 16, largest: 8, byCount: map[[2]int64][]point{}}
	for counts, step := range map[[2]int64]float64{{1, 1}: 10, {1, 2}: 12, {1, 4}: 16, {4, 4}: 28} {
		m.byCount[counts] = []point{{8, step, 2}, {16, 2 * step, 2}}
	}
	return m
}

// Measurements stand; between them lies a line, over samples, GPUs and servers; beyond them the nearest stands.
func TestStepBetween(t *testing.T) {
	m := hand()
	for _, test := range []struct {
		gpus  string
		local float64
		want  float64
	}{
		{"1", 8, 10}, {"1", 12, 15}, {"1", 4, 10}, {"1", 99, 20}, // samples
		{"2", 8, 12}, {"3", 8, 14}, {"8", 8, 16}, // GPUs: halfway between 2 and 4, and more than were measured
		{"13", 8, 9},                  // as measured by placement
		{"22", 8, 16 + 12.0/3},        // two servers: a third of the way from one to four
		{"1111", 16, 56},              // four
		{"11111", 8, 28},              // more servers than were measured
		{"111", 8, (14 + 2*28.0) / 3}, // 3 GPUs: between 2 and 4 on one server, and what four have at least
	} {
		if got := m.step([]byte(test.gpus), test.local).step; math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s with %v samples takes %v, want %v", test.gpus, test.local, got, test.want)
		}
	}
}

// One point for each number of samples: the mean of those that were measured.
func TestMeans(t *testing.T) {
	got := means([]point{{16, 4, 1}, {8, 1, 0.5}, {8, 3, 1.5}, {32, 9, 2}})
	want := []point{{8, 2, 1}, {16, 4, 1}, {32, 9, 2}}
	must.Equal(t, len(got), len(want), got)
	for i := range want {
		must.Equal(t, got[i], want[i], got, want)
	}
	if none := means(nil); len(none) > 0 {
		t.Errorf("%v of nothing", none)
	}
}

// A batch of 60 on two GPUs is 30 each, which is two passes of 15; the last one synchronizes.
func TestIteration(t *testing.T) {
	m := hand()
	on := []apportion.Placement{{Server: 3, Count: 2}}
	step := 12 + 12*7.0/8
	if got, want := m.iteration(on, 60, 1), 2*(step-2)+2; math.Abs(got-want) > 1e-9 {
		t.Errorf("takes %v, want %v", got, want)
	}
	if got, want := m.iteration(on, 60, 2), (step-2)+2; math.Abs(got-want) > 1e-9 {
		t.Errorf("twice as fast it takes %v, want %v", got, want)
	}
	for batch, want := range map[float64]int64{4: 1, 8: 1, 17: 2, 1000: 8} {
		must.Equal(t, m.mostGPUs(batch), want, "a batch of", batch, "may run on", "GPUs")
	}
}

// All GPUs wait for the slowest server; a server without a type is as measured.
func TestSlowest(t *testing.T) {
	w := &world{faster: map[string]map[string]float64{"v100": {"m": 3}, "k80": {"m": 0.5}}}
	servers := []apportion.Server{{Labels: map[string]string{schedulers.Accelerator: "v100"}}, {Labels: map[string]string{schedulers.Accelerator: "k80"}}, {}}
	on := func(at ...int) (all []apportion.Placement) {
		for _, h := range at {
			all = append(all, apportion.Placement{Server: h, Count: 1})
		}
		return all
	}
	for _, test := range []struct {
		on   []apportion.Placement
		want float64
	}{{on(0), 3}, {on(1), 0.5}, {on(2), 1}, {on(0, 2), 1}, {on(0, 1, 2), 0.5}} {
		must.Equal(t, w.slowest(servers, test.on, "m"), test.want, test.on, "computes", "times as fast")
	}
}

// A job is taken for a model by its GPU time, and has the larger batch where it had many GPUs.
func TestLikeModel(t *testing.T) {
	for _, test := range []struct {
		hours float64
		gpus  int64
		name  string
		batch float64
	}{
		{0.5, 1, "cifar10", 2048}, {0.05, 16, "cifar10", 4096}, {1, 1, "deepspeech2", 320}, {0.5, 16, "deepspeech2", 640},
		{10, 1, "yolov3", 64}, {1, 29, "imagenet", 6400}, {30, 1, "bert", 384}, {100, 1, "imagenet", 3200}, {50, 32, "imagenet", 6400},
	} {
		if name, batch := likeModel(time.Duration(test.hours*float64(time.Hour)), test.gpus); name != test.name || batch != test.batch {
			t.Errorf("%v h on %d GPUs is %s with %v, want %s with %v", test.hours, test.gpus, name, batch, test.name, test.batch)
		}
	}
}

// A workload that no file has, and a job of a model that nobody has measured, are errors that name them.
func TestShaped(t *testing.T) {
	rows := map[string][]trace.Job{"a": {{ID: "1"}}}
	loads, err := shaped(rows, []shape{{"a", 3}})
	if err != nil || len(loads) != 1 || loads[0].servers != 3 || len(loads[0].jobs) != 1 {
		t.Errorf("%+v, %v", loads, err)
	}
	if _, err := shaped(rows, []shape{{"a", 3}, {"b", 1}}); err == nil || !strings.Contains(err.Error(), "b") {
		t.Errorf("a workload without jobs: %v", err)
	}
	w := &world{}
	if _, err := w.iterationOf("unheard", 1); err == nil || !strings.Contains(err.Error(), "unheard") {
		t.Errorf("a model without measurements: %v", err)
	}
	ncf, err := w.iterationOf("ncf", 2*ncfSamples)
	if err != nil || math.Abs(ncf(nil, 4)-0.5) > 1e-12 {
		t.Errorf("a recommender takes %v s, want 0.5 (%v)", ncf(nil, 4), err)
	}
}

// A crowd is the first jobs of a workload on a part of its servers, at least one.
func TestCrowded(t *testing.T) {
	jobs := make([]trace.Job, crowdJobs+5)
	got := crowded([]*workload{{"a", 16, jobs}, {"b", 3, jobs[:2]}}, 4)
	if got[0].servers != 4 || len(got[0].jobs) != crowdJobs || got[1].servers != 1 || len(got[1].jobs) != 2 {
		t.Errorf("%d jobs on %d servers, %d on %d", len(got[0].jobs), got[0].servers, len(got[1].jobs), got[1].servers)
	}
}
