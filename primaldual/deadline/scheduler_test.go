// This file tests the life of jobs: offers, slots, lost work, failures, bad input.

package deadline

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// newTest returns a scheduler of so many GPUs with jobs of "work x width by deadline value" on workers of one GPU.
func newTest(t *testing.T, gpus int64, options Options, jobs ...string) *Scheduler {
	t.Helper()
	s := must.Have(New(apportion.Kinds{"gpu"}, apportion.Resources{gpus}, 1, &options))(t)
	for _, text := range jobs {
		must.Have(s.Offer(parse(t, text)))(t)
	}
	return s
}

// parse reads "id work width by value".
func parse(t *testing.T, text string) Job {
	t.Helper()
	job, d := Job{Worker: apportion.Resources{1}}, Deadline{}
	must.Have(fmt.Sscan(text, &job.ID, &job.Work, &job.Width, &d.By, &d.Value))(t)
	job.Deadlines = []Deadline{d}
	return job
}

func shares(s *Scheduler) string {
	var out []string
	for _, share := range s.Run() {
		out = append(out, fmt.Sprint(share.ID, " ", share.Workers))
	}
	return strings.Join(out, ", ")
}

func TestRun(t *testing.T) {
	for _, test := range []struct {
		name string
		gpus int64
		jobs []string
		want string
	}{
		{"the earliest deadline first", 4, []string{"a 8 4 9 1", "b 4 4 2 1"}, "b 4"},
		// By plain earliest deadline b would have both GPUs now, and a, one worker wide, would be late.
		{"a narrow job must run now", 2, []string{"a 3 1 3 1", "b 2 2 2 1"}, "a 1, b 1"},
		{"of two that cannot both end the denser", 2, []string{"a 4 2 2 1", "b 4 2 2 3"}, "b 2"},
		{"what is not planned takes what is free", 3, []string{"a 2 1 2 9", "b 4 2 2 1", "c 6 3 2 1"}, "a 1, b 2"},
		{"wider than the cluster", 2, []string{"a 4 9 2 1"}, "a 2"},
	} {
		must.Equal(t, shares(newTest(t, test.gpus, Options{}, test.jobs...)), test.want, test.name)
	}
}

// With several deadlines the job that loses soon goes before one of the same worth that can wait.
func TestApparentTardiness(t *testing.T) {
	s := newTest(t, 1, Options{})
	for _, job := range []Job{
		{ID: "waits", Work: 2, Width: 1, Worker: apportion.Resources{1}, Deadlines: []Deadline{{6, 4}, {8, 2}}},
		{ID: "hurries", Work: 2, Width: 1, Worker: apportion.Resources{1}, Deadlines: []Deadline{{2, 4}, {8, 2}}},
	} {
		must.Have(s.Offer(job))(t)
	}
	if jobs := s.waiting(); jobs[0].ID != "hurries" {
		t.Errorf("first is %s", jobs[0].ID)
	}
}

// What has no room is refused with its reason; a job that may stay is told the same.
func TestReasons(t *testing.T) {
	for _, test := range []struct {
		stay bool
		job  string
		want Decision
	}{
		{false, "b 9 1 3 1", Decision{Reason: ReasonLate}},
		{false, "b 1 2 2 9", Decision{Reason: ReasonFull}},
		{true, "b 1 2 2 9", Decision{Admitted: true, Reason: ReasonFull}},
		{false, "b 4 2 4 9", Decision{Reason: ReasonPrice}},    // more than the cluster can do in the one slot that was seen
		{false, "b 1 2 4 0.36", Decision{Reason: ReasonPrice}}, // 1.5 times the price of a, 0.25, is 0.375
		{false, "b 1 2 4 0.38", Decision{Admitted: true, Promise: &Deadline{4, 0.38}}},
	} {
		s := newTest(t, 2, Options{Promise: OnAdmission, Stay: test.stay}, "a 4 2 2 1")
		got, err := s.Offer(parse(t, test.job))
		if err != nil || fmt.Sprint(got.Admitted, got.Reason) != fmt.Sprint(test.want.Admitted, test.want.Reason) || (got.Promise == nil) != (test.want.Promise == nil) {
			t.Errorf("%s: %+v, %v", test.job, got, err)
		}
	}
}

// Of deadlines that keep half of the first value the last is promised; where that cannot be held, one that is worth less.
func TestLasting(t *testing.T) {
	for other, want := range map[string]int{"a 1 1 9 1": 4, "a 10 2 5 9": 9} {
		s := newTest(t, 2, Options{Promise: OnAdmission}, other)
		job := parse(t, "b 1 2 2 20")
		job.Deadlines = append(job.Deadlines, Deadline{4, 10}, Deadline{9, 9})
		if d, err := s.Offer(job); err != nil || d.Promise == nil || d.Promise.By != want {
			t.Errorf("beside %s: %+v, %v, want a promise by %d", other, d, err, want)
		}
	}
}

// Where much of more worth has come, a job of little is refused though it would fit.
func TestFluidPrice(t *testing.T) {
	s := newTest(t, 2, Options{Promise: OnAdmission}, "a 4 2 2 40", "b 4 2 2 40", "c 4 2 2 40")
	must.Equal(t, s.fluidPrice(), 10, "the price")
	decision, err := s.Offer(parse(t, "d 4 2 9 1"))
	if err != nil || decision.Admitted || decision.Reason != ReasonPrice {
		t.Errorf("%+v, %v", decision, err)
	}
	if small, err := s.Offer(parse(t, "e 1 2 9 0.1")); err != nil || small.Promise == nil {
		t.Errorf("a small job: %+v, %v", small, err)
	}
}

// Work that was not done breaks a promise, and says so; the job stays until it can earn nothing.
func TestLostWork(t *testing.T) {
	s := newTest(t, 2, Options{Promise: OnAdmission}, "a 4 2 2 1")
	s.Run()
	outcome, err := s.Advance(map[string]int64{"a": 3})
	if err != nil || len(outcome.Broken) != 1 || outcome.Broken[0].ID != "a" || !slices.Equal(outcome.Lost, []string{"a"}) {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// With a loss at each change a job keeps its workers where plain earliest deadline would take them away.
func TestChangeLoss(t *testing.T) {
	for loss, want := range map[float64]string{0: "b 2", 0.1: "a 2"} {
		s := newTest(t, 2, Options{ChangeLoss: loss}, "a 6 2 9 1")
		s.Run()
		must.Have(s.Advance(nil))(t)
		must.Have(s.Offer(parse(t, "b 2 2 8 1")))(t)
		must.Equal(t, shares(s), want, "loss", loss)
	}
}

func TestDeadlines(t *testing.T) {
	stepped := Deadlines(func(d int) float64 { return []float64{4, 4, 1, 0}[min(d, 3)] }, 5, 20)
	must.Same(t, stepped, []Deadline{{6, 4}, {7, 1}})
	linear := Deadlines(func(d int) float64 { return max(0, 100-float64(d)) }, 1, 500)
	if n := len(linear); n < 10 || n > steps+1 || linear[n-1].By != 100 {
		t.Errorf("%v", linear)
	}
}

func TestBadInput(t *testing.T) {
	good := parse(t, "a 1 1 5 1")
	for _, test := range []struct {
		change func(*Job)
		field  string
		err    error
	}{
		{func(j *Job) { j.ID = "" }, "ID", apportion.ErrEmpty},
		{func(j *Job) { j.ID = "there" }, "ID", apportion.ErrDuplicate},
		{func(j *Job) { j.Work = 0 }, "Work", apportion.ErrRange},
		{func(j *Job) { j.Work = math.MaxInt64 }, "Work", apportion.ErrOverflow},
		{func(j *Job) { j.Width = -1 }, "Width", apportion.ErrRange},
		{func(j *Job) { j.Worker = apportion.Resources{0} }, "Worker", apportion.ErrNoDemand},
		{func(j *Job) { j.Worker = apportion.Resources{-1} }, "Worker[gpu]", apportion.ErrNegative},
		{func(j *Job) { j.Worker = nil }, "Worker", apportion.ErrLength},
		{func(j *Job) { j.Deadlines = nil }, "Deadlines", apportion.ErrEmpty},
		{func(j *Job) { j.Deadlines[0].Value = math.NaN() }, "Deadlines[0]", apportion.ErrNotFinite},
		{func(j *Job) { j.Deadlines[0].Value = 0 }, "Deadlines[0]", apportion.ErrRange},
		{func(j *Job) { j.Deadlines = append(j.Deadlines, Deadline{5, 0.5}) }, "Deadlines[1]", apportion.ErrConflict},
		{func(j *Job) { j.Deadlines = append(j.Deadlines, Deadline{6, 1}) }, "Deadlines[1]", apportion.ErrConflict},
	} {
		s := newTest(t, 2, Options{}, "there 1 1 5 1")
		job := good
		job.Deadlines = slices.Clone(good.Deadlines)
		test.change(&job)
		_, err := s.Offer(job)
		if !errors.Is(err, test.err) || !strings.Contains(err.Error(), test.field) {
			t.Errorf("%s: %v", test.field, err)
		}
	}
}

func TestBadCalls(t *testing.T) {
	s := newTest(t, 2, Options{}, "a 2 1 5 1")
	_, negative := s.SetCapacity(apportion.Resources{-1})
	_, length := s.SetCapacity(nil)
	_, overflow := s.SetCapacity(apportion.Resources{math.MaxInt64})
	_, less := s.Advance(map[string]int64{"a": -1})
	_, more := s.Advance(map[string]int64{"a": 3})
	_, unknown := s.Advance(map[string]int64{"b": 1})
	_, loss := New(apportion.Kinds{"gpu"}, apportion.Resources{1}, 1, &Options{ChangeLoss: 1})
	_, strength := New(apportion.Kinds{"gpu"}, apportion.Resources{1}, 1, &Options{Promise: 9})
	for i, pair := range [][2]error{
		{negative, apportion.ErrNegative}, {length, apportion.ErrLength}, {overflow, apportion.ErrOverflow}, {less, apportion.ErrNegative},
		{more, apportion.ErrRange}, {unknown, apportion.ErrUnknown}, {loss, apportion.ErrRange}, {strength, apportion.ErrUnknown}, {s.Cancel("b"), apportion.ErrUnknown},
	} {
		must.Err(t, pair[0], pair[1], i, "is")
	}
	if err := s.Cancel("a"); err != nil || s.Has("a") || s.Slot() != 1 {
		t.Error(err)
	}
	for _, text := range []string{"", "{}", `{"kinds":["gpu"],"capacity":[1],"jobs":[{"id":"a"}]}`} {
		must.Fail(Restore([]byte(text)))(t, must.ErrAny, text, "was restored")
	}
}

// BenchmarkSlot is a slot of 200 jobs over 100 slots on 10 kinds; the 99th percentile is the metric.
func BenchmarkSlot(b *testing.B) {
	for _, strength := range []Strength{Never, OnStart, OnAdmission} {
		b.Run("promise="+strength.String(), func(b *testing.B) {
			kinds, capacity := make(apportion.Kinds, 10), make(apportion.Resources, 10)
			for r := range kinds {
				kinds[r], capacity[r] = fmt.Sprint("kind", r), int64(400+40*r)
			}
			s := must.Have(New(kinds, capacity, 1, &Options{Promise: strength, Stay: true}))(b)
			for i := range 200 {
				worker := make(apportion.Resources, 10)
				for r := range worker {
					worker[r] = int64(1 + (i*7+r*3)%5)
				}
				by := 10 + i*37%90
				job := Job{ID: fmt.Sprint(i), Work: int64(20 + i*13%200), Width: int64(4 + i%30), Worker: worker,
					Deadlines: []Deadline{{by, 3}, {by + 5, 2}, {by + 10, 1}}}
				must.Have(s.Offer(job))(b)
			}
			var took []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				s.Run()
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
		})
	}
}

// What rounding may cost is kept back: workers of 2 leave the fifth unit idle, and beside workers of 3 up to two more.
func TestReserve(t *testing.T) {
	s := newTest(t, 5, Options{})
	for want, units := range map[int64][]int64{5: {1, 1}, 4: {2, 2}, 3: {2, 3}, 2: {4, 1}} {
		var jobs []*planned
		for _, unit := range units {
			jobs = append(jobs, &planned{unit: unit})
		}
		must.Equal(t, s.reserve(jobs), want, "units", units, "leave")
	}
}

// Shares are exact where the capacities have a small common multiple, and else rounded up.
func TestShares(t *testing.T) {
	for _, test := range []struct {
		total, worker apportion.Resources
		of, want      int64
	}{
		{apportion.Resources{7}, apportion.Resources{3}, 7, 3},
		{apportion.Resources{4, 6}, apportion.Resources{1, 1}, 12, 3},
		{apportion.Resources{4, 6}, apportion.Resources{0, 5}, 12, 10},
		{apportion.Resources{4, 6}, apportion.Resources{5, 1}, 12, 13},
		{apportion.Resources{1 << 29, 3}, apportion.Resources{0, 1}, mostShare, mostShare/3 + 1},
	} {
		p := newPool(test.total)
		if got := p.unit(test.worker); p.capacity != test.of || got != test.want {
			t.Errorf("%v of %v is %d of %d", test.worker, test.total, got, p.capacity)
		}
	}
}

// Work that is taken can be added up in the units of any later capacity.
func TestWorkOfOtherUnits(t *testing.T) {
	s := must.Have(New(apportion.Kinds{"gpu", "cpu"}, apportion.Resources{1, 1}, 1, nil))(t)
	job := Job{ID: "a", Work: 1 << 32, Width: 1, Worker: apportion.Resources{1, 1}, Deadlines: []Deadline{{By: math.MaxInt, Value: 1}}}
	must.Fail(s.Offer(job))(t, apportion.ErrOverflow, "2^32 worker-slots")
	job.Work = 1 << 31
	must.Have(s.Offer(job))(t)
	s.SetCapacity(apportion.Resources{1 << 30, 1<<30 - 1})
	if p := s.measure(s.jobs[0]); p.left < 1 {
		t.Errorf("%d units are left", p.left)
	}
}

// An index is finite for deadlines at the end of time, also from slots before 0.
func TestIndexOfFarDeadlines(t *testing.T) {
	s := must.Have(New(apportion.Kinds{"gpu"}, apportion.Resources{4}, -5, nil))(t)
	h := &held{Job: Job{ID: "a", Work: 8, Width: 2, Worker: apportion.Resources{1}, Deadlines: []Deadline{{0, 2}, {math.MaxInt, 1}}}, Left: 8}
	if got := s.index(s.measure(h), 1); !(got > 0 && got < 1) {
		t.Errorf("index %g", got)
	}
}

// States that cannot be are refused by name.
func TestRestoreRefuses(t *testing.T) {
	s := newTest(t, 2, Options{Promise: OnAdmission}, "a 2 1 5 1")
	text := must.Have(s.Snapshot())(t)
	for _, test := range []struct{ old, new, want string }{
		{`"version":1`, `"version":2`, "version"},
		{`"start":1`, `"start":2`, "start"},
		{`"slot":1,`, `"slot":4294967296,`, "slot"},
		{`"jobs":[`, `"jobs":[null,`, "jobs"},
		{`"left":2`, `"left":3`, "jobs"},
		{`"left":2`, `"left":0`, "jobs"},
		{`"left":2`, `"left":2,"before":-1`, "jobs"},
		{`"left":2`, `"left":2,"workers":2`, "jobs"},
		{`"promise":{"by":5`, `"promise":{"by":6`, "jobs"},
		{`"arrivals":[`, `"arrivals":[{},`, "arrivals"},
	} {
		changed := strings.Replace(string(text), test.old, test.new, 1)
		if changed == string(text) {
			t.Fatalf("%s is not in %s", test.old, text)
		}
		var fault *apportion.FieldError
		if _, err := Restore([]byte(changed)); !errors.As(err, &fault) || fault.Field != test.want {
			t.Errorf("%s: %v", test.new, err)
		}
	}
}

// FuzzRestore restores any text: that must end in an error or in a scheduler that goes on and can be saved.
func FuzzRestore(f *testing.F) {
	busy := must.Have(New(apportion.Kinds{"gpu", "cpu"}, apportion.Resources{4, 6}, 1, &Options{Promise: OnStart, ChangeLoss: 0.1}))(f)
	for i := range 3 {
		job := Job{ID: fmt.Sprint(i), Work: 5, Width: 2, Worker: apportion.Resources{1, 2}, Deadlines: []Deadline{{By: 4 + i, Value: 2}, {By: 9, Value: 1}}}
		must.Have(busy.Offer(job))(f)
	}
	busy.Run()
	text := must.Have(busy.Snapshot())(f)
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Restore(text)
		if err != nil {
			return
		}
		s.Run()
		must.Have(s.Advance(nil))(t)
		again := must.Have(s.Snapshot())(t)
		must.Have(Restore(again))(t)
	})
}
