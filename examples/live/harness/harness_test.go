// This file checks what is measured and compared, on effects and curves made up here.

package harness

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/internal/must"
)

// began is when everything here begins.
var began = time.Unix(1_000_000, 0)

// effect is one that took seconds [from, until).
func effect(kind checkpoint.Action, attempt, number int64, from, until float64) driver.Traced {
	at := func(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }
	return driver.Traced{Effect: checkpoint.Effect{Action: kind, Job: "a", Attempt: attempt, Checkpoint: number, Containers: make([]string, attempt)},
		Issued: at(from), Replied: at(until), Reply: checkpoint.Reply{Outcome: checkpoint.Done, Step: -1}}
}

// save is a Save that holds some steps, and its Verify.
func save(attempt, number, step int64, from float64) []driver.Traced {
	s, v := effect(checkpoint.Save, attempt, number, from, from+2), effect(checkpoint.Verify, attempt, number, from+2, from+3)
	s.Reply.Step = step
	return []driver.Traced{s, v}
}

func start(attempt int64, from float64) []driver.Traced {
	return []driver.Traced{effect(checkpoint.Create, attempt, 0, from, from+1), effect(checkpoint.Resume, attempt, 0, from+1, from+2),
		effect(checkpoint.Confirm, attempt, 0, from+2, from+4)}
}

// steps is a run that did these steps, one a second.
func steps(attempt, first, last int64, from float64) master.Run {
	r := master.Run{Attempt: attempt}
	for step := first; step <= last; step++ {
		r.Points = append(r.Points, master.Point{Step: step, Value: 1 / float64(step), At: float64(began.Unix()) + from + float64(step-first)})
	}
	return r
}

// A planned adjustment, a periodic save, a death; what is lost is seen.
func TestAdjustments(t *testing.T) {
	var effects []driver.Traced
	effects = append(effects, start(1, 0)...)
	effects = append(effects, save(1, 7, 10, 20)...)
	effects = append(effects, effect(checkpoint.Stop, 1, 0, 23, 27))
	effects = append(effects, start(2, 30)...)
	effects = append(effects, save(2, 8, 20, 50)...)
	effects = append(effects, save(2, 9, 30, 60)...)
	effects = append(effects, effect(checkpoint.Stop, 2, 0, 70, 71))
	effects = append(effects, start(3, 71)...)
	effects = append(effects, save(3, 10, 40, 90)...)
	effects = append(effects, effect(checkpoint.Stop, 3, 0, 93, 94)) // right after a save, but what died keeps its containers
	last := start(4, 94)
	last[2].Effect.Containers = make([]string, 3)
	effects = append(effects, last...)
	job := &Job{Name: "a"}
	runs := []master.Run{steps(1, 1, 12, 5), steps(2, 11, 35, 40), steps(3, 31, 40, 80), steps(4, 41, 50, 100)}
	got := adjustments(job, effects, runs)
	want := []Adjustment{
		{Job: job, Planned: true, Before: 1, After: 2, Save: 3 * time.Second, Stop: 4 * time.Second, Start: 4 * time.Second, Resume: 6 * time.Second, Redone: 2},
		{Job: job, Before: 2, After: 3, Stop: time.Second, Start: 4 * time.Second, Resume: 5 * time.Second, Redone: 5},
		{Job: job, Before: 3, After: 3, Stop: time.Second, Start: 4 * time.Second, Resume: 2 * time.Second},
	}
	must.Equal(t, len(got), len(want), got)
	for i := range want {
		must.Equal(t, got[i], want[i])
	}
	must.Equal(t, got[0].Total(), 17*time.Second, "together")
	for _, first := range []int64{30, 33} { // one confirmed step done again, two left out
		runs[2] = steps(3, first, 40, 80)
		all := adjustments(job, effects, runs)
		if lost := all[1].Lost; lost == 0 {
			t.Errorf("the run that begins with step %d lost nothing", first)
		}
	}
}

func TestCompare(t *testing.T) {
	good := steps(1, 1, 10, 0).Points
	must.Equal(t, must.Have(compare(good, good, 10))(t), 0)
	twice := append(append([]master.Point{}, good[:5]...), good[4:9]...)
	other := append([]master.Point{}, good...)
	other[3].Value += 2 * Tolerance
	nan := append([]master.Point{}, good...)
	nan[3].Value = math.NaN()
	for name, bad := range map[string][]master.Point{"short": good[:9], "a step twice": twice, "other losses": other, "no number": nan} {
		must.Fail(compare(bad, good, 10))(t, must.ErrAny, name, "taken")
	}
}

func record(t *testing.T, effects []driver.Traced, runs []master.Run) *Record {
	t.Helper()
	r := &Record{Place: cluster.Place(t.TempDir()), Jobs: []Job{{Name: "a", Framework: "mxnet"}}, Began: began,
		Servers: []apportion.Server{{ID: "n", Capacity: apportion.Resources{4, 8}}}}
	var lines bytes.Buffer
	for _, e := range effects {
		must.Do(t, json.NewEncoder(&lines).Encode(e))
	}
	lines.WriteString(`{"effect": {"job`) // a master was killed
	must.Do(t, os.WriteFile(r.Place.Join(cluster.TraceFile), lines.Bytes(), 0o600))
	for _, run := range runs {
		var lines bytes.Buffer
		for _, p := range run.Points {
			must.Do(t, json.NewEncoder(&lines).Encode(p))
		}
		dir := filepath.Join(r.Place.Shared(), "a", string('0'+rune(run.Attempt)))
		must.Do(t, os.MkdirAll(dir, 0o700))
		must.Do(t, os.WriteFile(filepath.Join(dir, master.CurveFile), lines.Bytes(), 0o600))
	}
	must.Do(t, r.read())
	return r
}

func TestRecord(t *testing.T) {
	full := effect(checkpoint.Save, 1, 9, 20, 21)
	full.Reply.Outcome, full.Reply.Detail = checkpoint.Failed, "write: no space left on device"
	r := record(t, []driver.Traced{full}, []master.Run{steps(1, 1, 12, 0), steps(2, 9, 20, 30)})
	if n := r.FailedSaves("a", "no space"); n != 1 || r.FailedSaves("a", "deadline") != 0 {
		t.Errorf("%d saves failed", n)
	}
	// Steps 9 to 12 are done again from second 30 on, step 13 is new.
	runs, next, err := r.After("a", began.Add(15*time.Second), began.Add(time.Minute))
	if err != nil || runs != 1 || next != 19*time.Second {
		t.Errorf("%d runs, next step after %v, %v", runs, next, err)
	}
	all := must.Have(r.Adjustments())(t)
	must.Equal(t, len(all), 0, all)
	list := master.List{Jobs: []master.View{{Job: checkpoint.Job{Name: "a", Demand: apportion.Resources{1, 1}, Containers: []string{"n", "n"}}, Share: alloc.Share{Theoretical: 0.75}}}}
	if u, f := r.measure(&cluster.Sample{List: list}); u != 0.75 || f != 0.25 {
		t.Errorf("utilization %v, fairness loss %v", u, f)
	}
	list.Jobs[0].Job.Ending = checkpoint.Completed
	r.Samples = []cluster.Sample{{At: time.Second}, {At: time.Minute, List: list}}
	if ending, at := r.Ending("a"); ending != checkpoint.Completed || at != time.Minute {
		t.Errorf("%v at %v", ending, at)
	}
	if figures := r.Figures([]Outcome{{Job: &r.Jobs[0], Points: steps(1, 1, 90, 0).Points}}); len(figures) != 3 {
		t.Errorf("%d figures", len(figures))
	}
}

// Two places in a job at the same time are noticed, whatever the curve says.
func TestTwiceIsNoticed(t *testing.T) {
	r := record(t, nil, []master.Run{steps(1, 1, 3, 0)})
	must.Do(t, os.WriteFile(filepath.Join(r.Place.Shared(), "a", cluster.TwiceFile), []byte("rank 0"), 0o600))
	if _, err := r.outcome(t.Context(), &r.Jobs[0]); err == nil || !strings.Contains(err.Error(), "same place") {
		t.Error(err)
	}
}

func TestTables(t *testing.T) {
	job := &Job{Name: "a", Framework: "mxnet"}
	var out bytes.Buffer
	adjustments := []Adjustment{{Job: job, Planned: true, Save: time.Second, Redone: 2}, {Job: job, Planned: true, Save: 3 * time.Second}, {Job: job, Save: time.Hour, Lost: 1}}
	must.Do(t, PrintCosts(&out, adjustments))
	line := strings.Fields(strings.Split(out.String(), "\n")[1])
	must.Equal(t, strings.Join(line, " "), "mxnet 3 1 2.00 0.00 0.00 0.00 2.00 2 1", line)
	out.Reset()
	if err := PrintOutcomes(&out, []Outcome{{Job: job, Points: steps(1, 1, 4, 0).Points, Runs: 2, Redone: 1}}); err != nil || !strings.Contains(out.String(), "0.250") {
		t.Errorf("%s, %v", &out, err)
	}
}

// Without the frameworks nothing is begun.
func TestNoFrameworks(t *testing.T) {
	t.Setenv(EnvFrameworks, "")
	if _, err := NewKit(t.TempDir()); err != ErrNoFrameworks {
		t.Error(err)
	}
}

// The trainers are written out, once and again.
func TestKit(t *testing.T) {
	t.Setenv(EnvFrameworks, t.TempDir())
	dir := filepath.Join(t.TempDir(), "trainers")
	for range 2 {
		kit := must.Have(NewKit(dir))(t)
		for framework := range formats {
			argv := kit.Command(&Job{Framework: framework, Args: []string{"--x"}, Steps: 3})
			if _, err := os.Stat(argv[1]); err != nil || argv[2] != "--x" || argv[4] != "3" {
				t.Errorf("%v, %v", argv, err)
			}
		}
	}
}

// Containers go round the servers with room; where not all fit, there is none, and none is taken.
func TestRoundRobin(t *testing.T) {
	servers := []apportion.Server{{ID: "a", Capacity: apportion.Resources{1}}, {ID: "b", Capacity: apportion.Resources{4}}, {ID: "c", Capacity: apportion.Resources{0}}}
	room := must.Have(RoomOf(apportion.Kinds{"cpu"}, servers))(t)
	demand := apportion.Resources{1}
	if err := room.Take([]string{"b", "gone"}, demand); err != nil { // a server that was lost
		t.Fatal(err)
	}
	if got := room.RoundRobin(demand, 5); got != nil {
		t.Errorf("%v in room for four", got)
	}
	placed := room.RoundRobin(demand, 3)
	must.Equal(t, strings.Join(room.Names(placed), " "), "a b b")
	if got := room.RoundRobin(demand, 2); got != nil || servers[1].Capacity[0] != 4 {
		t.Errorf("%v in room for one; capacity %v", got, servers[1].Capacity)
	}
	must.Do(t, room.Release(placed, demand))
	if got := room.RoundRobin(demand, 4); len(room.Names(got)) != 4 {
		t.Errorf("%v after all was given back", got)
	}
}

// Times are counted from the arrival of each job, the makespan from the beginning.
func TestPrintTimes(t *testing.T) {
	jobs := []Job{{Name: "a", Framework: "f", Steps: 3}, {Name: "b", Framework: "g", At: 10 * time.Second}}
	var out strings.Builder
	took := [][]time.Duration{{20 * time.Second, 30 * time.Second}, {60 * time.Second, 15 * time.Second}}
	must.Do(t, PrintTimes(&out, jobs, []string{"x", "y"}, took, []string{"more", "1", "2"}))
	want := "Seconds from arrival to end job framework steps arrived (s) x y a f 3 0 20.0 60.0 (+200.0 %) b g 0 10 30.0 15.0 (-50.0 %) " +
		"mean 25.0 37.5 (+50.0 %) makespan 40.0 60.0 (+50.0 %) more 1 2"
	must.Equal(t, strings.Join(strings.Fields(out.String()), " "), want)
}
