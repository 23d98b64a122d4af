// This file tests days: which jobs of a trace are played, and what a day that was played comes to.

package day

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

const rows = `job_id,submit_s,duration_s,gpus,cpus,mem_gb,user,group,tasks,queue_s,est_s,status,kind
a,0,7200,1,,,,,,,,,
b,100,,1,,,,,,,,,
c,3600,3600,8,,,,,,,,,
d,7200,7200,,,,,,,,,,
e,36000,864000,2,,,,,,,,,
f,40000,60,8,,,,,,,,,
`

func TestJobs(t *testing.T) {
	jobs := must.Have(Jobs("day", []byte(rows), 3, 24, 4*time.Minute))(t)
	want := []Job{{Name: "job-01", Fixed: 1, Max: 4, Work: 20}, {Name: "job-02", At: 10, Fixed: 8, Max: 24, Work: 80}, {Name: "job-03", At: 100, Fixed: 2, Max: 8, Work: 240}}
	for i := range want {
		must.Equal(t, jobs[i], want[i])
	}
	// Evenly: the first and the third of four. None is larger than the cluster.
	if two, err := Jobs("day", []byte(rows), 2, 1, time.Minute); err != nil || two[1].At != 25 || two[1].Fixed != 1 || two[1].Max != 1 {
		t.Errorf("%+v, %v", two, err)
	}
	for _, n := range []int{0, 5} {
		must.Fail(Jobs("day", []byte(rows), n, 24, time.Minute))(t, must.ErrAny, n, "jobs of 4")
	}
	for _, text := range []string{"", rows + "x,y,z\n"} {
		must.Fail(Jobs("day", []byte(text), 1, 24, time.Minute))(t, must.ErrAny, text, "is read")
	}
	must.Fail(Jobs("day", []byte(rows), 1, 24, 0))(t, must.ErrAny, "a day of no length")
}

// Two jobs on four slots: the first has all of them for 10 s, then each two for 10 s, and the first two for another 10.
func TestMeasure(t *testing.T) {
	r := &Record{Slots: 4, Jobs: []Job{{Name: "a", Fixed: 2, Max: 4, Work: 60, Ended: 30}, {Name: "b", At: 10, Fixed: 1, Max: 2, Work: 20, Ended: 20}}}
	for range 2 {
		r.Lives = append(r.Lives, Life{"a", 0, 30}, Life{"a", 0, 10}, Life{"b", 10, 20})
	}
	m := must.Have(r.Measure())(t)
	// Alone at the end the first should have all four slots, and has half of them, for a third of the time.
	want := Measures{Mean: 20, Longest: 30, Last: 30, Slowdown: (30/30.0 + 10/20.0) / 2, Held: 100 / 120.0, Useful: 80 / 120.0, Loss: 0.5 / 3}
	for _, c := range [][2]float64{{m.Mean, want.Mean}, {m.Longest, want.Longest}, {m.Last, want.Last}, {m.Slowdown, want.Slowdown}, {m.Held, want.Held},
		{m.Useful, want.Useful}, {m.Loss, want.Loss}, {m.Fragments, 0}} {
		if math.Abs(c[0]-c[1]) > 1e-9 {
			t.Errorf("%+v, want %+v", m, want)
		}
	}
	// One that waits has nothing of its share.
	r.Lives = r.Lives[:2]
	if samples, err := r.Samples(10); err != nil || len(samples) != 3 || samples[0].Held != 0.5 || math.Abs(samples[1].Loss-(0.25+0.5)) > 1e-9 ||
		samples[0].Fragments != 0 || samples[1].Fragments != 0.75 || samples[2].Fragments != 0 {
		t.Errorf("%+v, %v", samples, err)
	}
	if m, err := r.Measure(); err != nil || math.Abs(m.Fragments-0.75/3) > 1e-9 {
		t.Errorf("%+v, %v", m, err)
	}
	r.Jobs[1].Ended = 0
	if _, err := r.Measure(); err == nil || !strings.Contains(err.Error(), "b has not ended") {
		t.Errorf("%v", err)
	}
}

// A job that goes on with other containers has paused; one that gets more beside those that it has did not.
func TestPauses(t *testing.T) {
	r := &Record{Lives: []Life{{"a", 14, 20}, {"a", 0, 10}, {"b", 0, 30}, {"a", 2, 8}, {"b", 5, 40}, {"a", 26, 27}}}
	if n, mean := r.pauses(); n != 2 || mean != 5 {
		t.Errorf("%d pauses of %g", n, mean)
	}
	if n, mean := (&Record{}).pauses(); n != 0 || mean != 0 {
		t.Errorf("%d pauses of %g", n, mean)
	}
}

// What the plain job waits counts, and for how long the elastic one was at work, in a day that was played sixty times as fast.
func TestPlainAndElastic(t *testing.T) {
	r := &Record{Jobs: []Job{{Name: "e", At: 1, Fixed: 1, Max: 4, Ended: 122}, {Name: "late", At: 20, Fixed: 2, Max: 2, Ended: 40}, {Name: "p", At: 10, Fixed: 2, Max: 2, Ended: 30}},
		Lives: []Life{{"e", 60, 70}, {"e", 2, 50}, {"p", 13, 30}, {"p", 12, 30}, {"late", 26, 40}}}
	if mean, longest := r.Waits(); mean != 4 || longest != 6 {
		t.Errorf("they wait %g, and %g at most", mean, longest)
	}
	r.Lives = append(r.Lives, Life{"p", 31, 32})
	if n, mean := r.Restarts(); n != 1 || mean != 10 {
		t.Errorf("%d restarts of %g", n, mean)
	}
	must.Equal(t, r.Hours(60), 2, "hours")
	if plain := Plain(r.Jobs); len(plain) != 2 || plain[0].Name != "late" || len(r.Jobs) != 3 {
		t.Errorf("%+v", plain)
	}
	if Sort(r.Jobs); r.Jobs[1].Name != "p" {
		t.Errorf("%+v", r.Jobs)
	}
}

// More jobs than slots have a fair share all the same.
func TestManyJobs(t *testing.T) {
	r := &Record{Slots: 2, Jobs: []Job{{Name: "a", Max: 2, Ended: 9}, {Name: "b", Max: 2, Ended: 9}, {Name: "c", Max: 2, Ended: 9}}}
	fair, err := r.fair(1)
	if err != nil || math.Abs(fair["c"]-1/3.0) > 1e-9 {
		t.Errorf("%v, %v", fair, err)
	}
}
