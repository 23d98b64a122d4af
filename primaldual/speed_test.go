// This file tests speeds that are not linear, jobs without parameter servers, and shapes.

package primaldual

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
)

// curved is a job of so many units: 1, 2 or 4 workers do 10, 18 or 30 of them in a slot, with a parameter server each, or
// 8, 14, 22 without.
func curved(id string, units int64) Job {
	return Job{
		ID: id, Arrival: 1, Worker: vec{1}, PS: vec{1}, Units: units, Utility: Constant(1000),
		Speeds: []Speed{{1, 0, 8}, {1, 1, 10}, {2, 0, 14}, {2, 2, 18}, {4, 0, 22}, {4, 4, 30}},
	}
}

// The cost of a number of units is that of the cheapest way that does at least so many.
func TestSpeedTable(t *testing.T) {
	cluster, bounds := plainCluster(3, 4)
	s := newScheduler(t, cluster, bounds, BoundsFirst) // a container costs 1
	j := curved("j", 30)
	got := tablesOf(t, s, &j)[0]
	for units, want := range map[int]float64{0: 0, 1: 1, 8: 1, 9: 2, 10: 2, 14: 2, 15: 4, 22: 4, 23: 8, 30: 8} {
		if got[units] != want {
			t.Errorf("%d units cost %g, want %g", units, got[units], want)
		}
	}
	if len(got) != 31 {
		t.Errorf("%d entries", len(got))
	}
	// What is left is less than a slow way does: it costs no more than that.
	j.Units = 3
	if got := tablesOf(t, s, &j)[0]; !cmp.Equal(got, []float64{0, 1, 1, 1}) {
		t.Errorf("%v", got)
	}
}

// Cheap slots beat fast ones, until the deadline says otherwise.
func TestSpeedSchedule(t *testing.T) {
	for _, test := range []struct {
		within int
		want   []int64 // workers by slot
	}{{2, []int64{1, 1, 2}}, {1, []int64{2, 4}}, {0, nil}} {
		cluster, bounds := plainCluster(3, 4)
		s := newScheduler(t, cluster, bounds, BoundsFirst)
		j := curved("j", 30)
		j.Utility = Steps{{test.within, 1000}}
		if test.within == 1 {
			j.Units = 36
		}
		if test.within == 0 {
			j.Units = 31
		}
		d := offer(t, s, j)
		sum := map[int64]int{}
		for i := range d.Schedule {
			sum[d.Schedule[i].Total()]++
		}
		want := map[int64]int{}
		for _, y := range test.want {
			want[y]++
		}
		if !cmp.Equal(sum, want) || d.Admitted != (test.want != nil) {
			t.Errorf("by slot %d: %v with %v workers, want %v", test.within+1, d.Verdict, sum, want)
		}
	}
}

// A job that needs no parameter servers runs where there is no room for any; in JSON its plans say so by empty lists.
func TestWithoutParameterServers(t *testing.T) {
	cluster, bounds := plainCluster(3, 4)
	cluster.PSServers = servers("p", vec{0})
	s, err := NewScheduler(cluster, bounds, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := offer(t, s, curved("j", 44))
	if !d.Admitted || len(d.Schedule[0].PS) != 0 {
		t.Fatalf("%v: %+v", d.Verdict, d.Reason)
	}
	if text, err := json.Marshal(d); err != nil || !strings.Contains(string(text), `"ps":[]`) {
		t.Errorf("%s, %v", text, err)
	}
	needs := curved("needs", 44)
	needs.Speeds = needs.Speeds[1:2]
	if d := offer(t, s, needs); d.Verdict != FitsNoPSServer {
		t.Errorf("%v for a job with parameter servers", d.Verdict)
	}
}

func TestSpeedFaults(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Job)
		want   error
	}{
		"fine":            {func(*Job) {}, nil},
		"no workers":      {func(j *Job) { j.Speeds[0].Workers = 0 }, apportion.ErrRange},
		"negative PS":     {func(j *Job) { j.Speeds[0].PS = -1 }, apportion.ErrRange},
		"no units":        {func(j *Job) { j.Speeds[2].Units = 0 }, apportion.ErrRange},
		"twice":           {func(j *Job) { j.Speeds[1] = j.Speeds[0] }, apportion.ErrDuplicate},
		"out of order":    {func(j *Job) { j.Speeds[1], j.Speeds[2] = j.Speeds[2], j.Speeds[1] }, apportion.ErrDuplicate},
		"no work":         {func(j *Job) { j.Units = 0 }, apportion.ErrRange},
		"linear too":      {func(j *Job) { j.Chunks = 4 }, apportion.ErrConflict},
		"bandwidth":       {func(j *Job) { j.PSBandwidth = 1 }, apportion.ErrConflict},
		"work, no speeds": {func(j *Job) { *j = plainJob("j", 1); j.Units = 3 }, apportion.ErrConflict},
	} {
		j := curved("j", 5)
		test.change(&j)
		if err := j.Validate(apportion.Kinds{"unit"}); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

// What is left after a failure counts in units: a slot of four workers without parameter servers has done 22 of 40, so that
// two workers' 18 are enough.
func TestSpeedAfterFailure(t *testing.T) {
	cluster, bounds := plainCluster(6, 4)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	j := curved("j", 40)
	j.Speeds = []Speed{{2, 0, 18}, {4, 0, 22}}
	j.Utility = Steps{{1, 1000}, {5, 10}}
	if d := offer(t, s, j); !d.Admitted || d.Schedule[0].Total()+d.Schedule[1].Total() != 6 {
		t.Fatalf("%+v", d)
	}
	first := s.jobs["j"].job.done(s.jobs["j"].schedule[:1])
	out, err := s.Fail("w0", 2)
	if err != nil {
		t.Fatal(err)
	}
	if left := s.jobs["j"].left(2).work; len(out) == 1 && left != 40-first {
		t.Errorf("%d units are left of 40, slot 1 did %d", left, first)
	}
	if got := (&running{job: j, schedule: s.jobs["j"].schedule[:1]}).left(2).work; got != 40-first {
		t.Errorf("%d units are left, want %d", got, 40-first)
	}
}

// A job whose ways have no parameter servers says nothing about prices there, whatever it says that one would demand: with a
// U of its own that side would cost up to a quarter of U before the first job, which no optimum need answer for.
func TestBoundsOfUnusedSide(t *testing.T) {
	cluster, _ := plainCluster(3, 4)
	ring := curved("ring", 20)
	ring.Speeds = []Speed{{1, 0, 8}}
	bounds := boundsOf(t, cluster, []Job{ring}, nil)
	if bounds.UPS[0] != 0 || bounds.LPS[0] != 0 || bounds.UWorker[0] != 1000 {
		t.Errorf("%+v", bounds)
	}
	if got := initialDual(cluster, &bounds); got > 500 {
		t.Errorf("an initial dual value of %g, more than half of 1000", got)
	}
}
