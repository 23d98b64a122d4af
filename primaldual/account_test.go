// This file tests what decides over a job before any schedule: why it can never run, and the rules of its
// places. All numbers are worked out by hand.

package primaldual

import (
	"testing"

	"github.com/apportion/apportion"
)

// twoKinds is a cluster of two worker servers with 4 CPUs and 8 GB, of which the second has a GPU label, and one parameter
// server with 10 CPUs and nothing else.
func twoKinds() *Cluster {
	c := &Cluster{
		Kinds: apportion.Kinds{"cpu", "gb"}, Slots: 4,
		WorkerServers: servers("w", vec{4, 8}, vec{4, 8}), PSServers: servers("p", vec{10, 0}),
	}
	c.WorkerServers[1].Labels = map[string]string{"gpu": "v100"}
	return c
}

// Why a job can never run, in the order of the tests: bandwidths, worker servers, parameter servers; size and labels must suit
// on one server.
func TestMisfit(t *testing.T) {
	gpu := []apportion.Requirement{{Key: "gpu", Op: apportion.Exists}}
	for _, test := range []struct {
		name string
		job  Job
		want Verdict
	}{
		{"fits", Job{WorkerBandwidth: 1, PSBandwidth: 1, Worker: vec{4, 8}, PS: vec{10, 0}}, Admitted},
		{"b > B", Job{WorkerBandwidth: 2, PSBandwidth: 1, Worker: vec{99, 8}, PS: vec{10, 0}}, BandwidthTooSmall},
		{"no worker server", Job{WorkerBandwidth: 1, PSBandwidth: 1, Worker: vec{5, 0}, PS: vec{99, 0}}, FitsNoWorkerServer},
		{"no parameter server", Job{WorkerBandwidth: 1, PSBandwidth: 1, Worker: vec{4, 0}, PS: vec{0, 1}}, FitsNoPSServer},
		{"labels", Job{WorkerBandwidth: 1, PSBandwidth: 1, Worker: vec{4, 8}, PS: vec{1, 0}, WorkerRequires: gpu}, Admitted},
		{"labels of nobody", Job{WorkerBandwidth: 1, PSBandwidth: 1, Worker: vec{1, 1}, PS: vec{1, 0}, PSRequires: gpu}, FitsNoPSServer},
		{"ways are bound by no bandwidth", Job{WorkerBandwidth: 2, PSBandwidth: 1, Worker: vec{1, 1}, PS: vec{1, 0}, Speeds: []Speed{{1, 1, 1}}}, Admitted},
		{"a way without parameter servers", Job{Worker: vec{1, 1}, PS: vec{99, 0}, Speeds: []Speed{{1, 0, 1}, {1, 1, 2}}}, Admitted},
		{"all ways need them", Job{Worker: vec{1, 1}, PS: vec{99, 0}, Speeds: []Speed{{1, 1, 2}}}, FitsNoPSServer},
	} {
		if got := test.job.misfit(twoKinds()); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// Which placements a rule allows: machines 0 and 1 are on both lists, and machine 2 holds parameter servers alone.
func TestStands(t *testing.T) {
	c := &Cluster{Kinds: apportion.Kinds{"unit"}, Slots: 1, WorkerServers: servers("m", vec{4}, vec{4}), PSServers: servers("m", vec{4}, vec{4}, vec{4})}
	p := newPark(c, &Bounds{UWorker: []float64{2}, LWorker: []float64{1}, UPS: []float64{2}, LPS: []float64{1}})
	at := func(servers ...int) (list []apportion.Placement) {
		for _, h := range servers {
			list = append(list, apportion.Placement{Server: h, Count: 1})
		}
		return list
	}
	for _, test := range []struct {
		workers, ps []apportion.Placement
		want        [3]bool // Anywhere, Apart, OneMachine
	}{
		{at(0), at(0), [3]bool{true, false, true}},
		{at(0), at(1), [3]bool{true, true, false}},
		{at(0), at(2), [3]bool{true, true, false}},
		{at(0, 1), at(2), [3]bool{true, true, false}},
		{at(0, 1), at(1), [3]bool{true, false, false}},
		{at(1), nil, [3]bool{true, true, true}},
		{at(0, 1), nil, [3]bool{true, true, false}},
		{at(0), at(0, 2), [3]bool{true, false, false}},
		{nil, nil, [3]bool{true, true, true}},
	} {
		for rule, want := range test.want {
			j := &Job{Colocation: Colocation(rule)}
			if got := j.stands(p, &SlotPlan{Workers: test.workers, PS: test.ps}); got != want {
				t.Errorf("%v: workers on %v, parameter servers on %v: %t", j.Colocation, test.workers, test.ps, got)
			}
		}
	}
}
