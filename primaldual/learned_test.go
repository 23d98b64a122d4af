// This file tests admission by learnt prices: revision, refusal and the safeguard.

package primaldual

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
)

// learner4 is a scheduler that learns, on two servers of two units each side.
func learner4(t *testing.T, slots int, learning Learning) *Scheduler {
	t.Helper()
	cluster, _ := plainCluster(slots, 2)
	s, err := NewScheduler(cluster, nil, &SchedulerOptions{Learn: &learning})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// deadlined is a job of so many worker-slots, four at a time, that is worth something if it ends in time.
func deadlined(id string, arrival int, work int64, slots int, worth float64) Job {
	j := plainJob(id, arrival)
	j.Epochs, j.Chunks, j.MinibatchSlots = 1, 4, float64(work)/4
	j.Utility = Steps{{Within: slots - 1, Value: worth}}
	return j
}

// A job that can wait takes the first slots; one that comes later and cannot wait gets them, and the first still ends in
// time.
func TestRevisionMakesRoom(t *testing.T) {
	s := learner4(t, 4, Learning{})
	if d := offer(t, s, deadlined("patient", 1, 8, 4, 10)); d.Completion != 2 || len(d.Revised) != 0 {
		t.Fatalf("%+v", d)
	}
	d := offer(t, s, deadlined("urgent", 1, 4, 1, 10))
	if !d.Admitted || d.Completion != 1 || len(d.Revised) != 1 || d.Revised[0].ID != "patient" || d.Revised[0].From != 1 {
		t.Fatalf("%+v", d)
	}
	if got, _ := s.Schedule("patient"); got.completion() != 3 || !cmp.Equal(got, d.Revised[0].Schedule) {
		t.Errorf("the patient job runs %+v, revised to %+v", got, d.Revised)
	}
	// A third has no room before its deadline whatever moves: four slots hold 16 worker-slots, 12 are promised by slot 4.
	if d := offer(t, s, deadlined("late", 1, 8, 3, 10)); d.Verdict != NoRoom || d.Reason.Text == "" {
		t.Errorf("%+v", d)
	}
	if err := s.recount(); err != nil {
		t.Error(err)
	}
}

// With no revision allowed the urgent job has no room, and with a budget of one job it has.
func TestRevisionBudget(t *testing.T) {
	for _, test := range []struct {
		revise   int
		admitted bool
	}{{-1, false}, {1, false}, {2, true}, {0, true}} {
		s := learner4(t, 4, Learning{Revise: test.revise})
		// Two jobs share the first two slots; both must make way.
		for _, id := range []string{"a", "b"} {
			j := deadlined(id, 1, 4, 4, 10)
			j.Chunks, j.MinibatchSlots = 2, 2
			offer(t, s, j)
		}
		if d := offer(t, s, deadlined("urgent", 1, 8, 2, 10)); d.Admitted != test.admitted || len(d.Revised) > max(0, test.revise) && test.revise != 0 {
			t.Errorf("revise %d: %+v", test.revise, d)
		}
	}
}

// Revise lets jobs use what has become free, and keeps what was promised.
func TestRevise(t *testing.T) {
	s := learner4(t, 4, Learning{})
	offer(t, s, deadlined("first", 1, 8, 4, 10))
	offer(t, s, deadlined("second", 1, 4, 4, 10))
	if err := s.Cancel("first"); err != nil {
		t.Fatal(err)
	}
	got := s.Revise()
	if len(got) != 1 || got[0].ID != "second" || got[0].Schedule.completion() != 1 {
		t.Errorf("%+v, want the second job in slot 1", got)
	}
	if again := s.Revise(); again != nil {
		t.Errorf("moved again: %+v", again)
	}
	cluster, bounds := plainCluster(4, 2)
	if got := newScheduler(t, cluster, bounds, BoundsFirst).Revise(); got != nil {
		t.Errorf("moved by bounds: %+v", got)
	}
}

// Of two deadlines the first one that can be met is taken, at the cost of revisions where that is worth more.
func TestLevels(t *testing.T) {
	s := learner4(t, 8, Learning{})
	offer(t, s, deadlined("patient", 1, 8, 8, 10))
	j := deadlined("steps", 1, 4, 1, 0)
	j.Utility = Steps{{0, 9}, {1, 8}, {7, 1}}
	d := offer(t, s, j)
	if d.Utility != 9 || len(d.Revised) != 1 {
		t.Errorf("%+v, want the first deadline", d)
	}
	if got := levels([]float64{0, 9, 9, 8, 8, 8, 0, 0}, 1); !cmp.Equal(got, []int{2, 5}) {
		t.Errorf("levels end at %v", got)
	}
	if got := promised([]float64{0, 9, 9, 8, 0}, 1, 9); got != 3 {
		t.Errorf("%d slots, want 3", got)
	}
}

// whales floods a cluster with short jobs and offers one that would take half of everything for little worth.
func whales(t *testing.T, learning Learning) (s *Scheduler, d Decision) {
	t.Helper()
	s = learner4(t, 400, learning)
	for i := range 200 {
		if _, err := s.Advance(i + 1); err != nil {
			t.Fatal(err)
		}
		for k := range 2 { // four fifths of the cluster and more
			offer(t, s, deadlined(fmt.Sprint("short", i, "-", k), i+1, 2-int64(k*(i%2)), 4, 10))
		}
	}
	offer(t, s, deadlined("patient", 200, 170, 399, 10)) // a tenth of the window is promised
	return s, offer(t, s, deadlined("whale", 200, 800, 399, 10))
}

// A job of little worth that takes half of its window is refused while better ones keep coming; without prices, or where
// nothing has been earned yet that could pay for the refusal, it is not.
func TestWhale(t *testing.T) {
	s, d := whales(t, Learning{})
	if d.Verdict != TooExpensive || d.Cost <= d.Utility || d.Reason.Need != d.Cost {
		t.Errorf("%v, cost %g, %+v, want too expensive", d.Verdict, d.Cost, d.Reason)
	}
	if s.learn.refused != 10 {
		t.Errorf("refused %g", s.learn.refused)
	}
	if _, d := whales(t, Learning{Refuse: -1}); !d.Admitted {
		t.Errorf("%v, want it admitted without prices", d.Verdict)
	}
	if _, d := whales(t, Learning{Refuse: 1e-9}); !d.Admitted || d.Payoff != 0 {
		t.Errorf("%v, payoff %g, want it admitted by the account, without profit", d.Verdict, d.Payoff)
	}
	idle := learner4(t, 400, Learning{})
	if d := offer(t, idle, deadlined("whale", 1, 800, 399, 10)); !d.Admitted || d.Cost != 0 {
		t.Errorf("%v, cost %g on an idle cluster", d.Verdict, d.Cost)
	}
}

// Prices of windows, edge by edge: a small job and an idle window cost nothing.
func TestWindowPrice(t *testing.T) {
	l, err := newLearner(&Learning{Memory: 10}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for slot := 1; slot <= 100; slot++ {
		l.forecast.note(slot, 1.5, 150)
	}
	busy := window{load: 5, length: 10, committed: 2}
	for _, test := range []struct {
		name string
		window
		free bool
	}{
		{"half of a busy window", busy, false},
		{"a third less a little", window{load: 10*whale - 0.01, length: 10, committed: 2}, true},
		{"a third", window{load: 10*whale + 1e-9, length: 10, committed: 2}, false},
		{"idle", window{load: 5, length: 10, committed: 10*idle - 0.01}, true},
		{"hardly idle", window{load: 5, length: 10, committed: 10 * idle}, false},
	} {
		if got := l.price(100, test.window, 10); (got == 0) != test.free {
			t.Errorf("%s: price %g", test.name, got)
		}
	}
	if got, want := l.price(100, busy, 10), caution*l.forecast.displaced(100, 5, 10, 2, 10); got != want {
		t.Errorf("price %g, want %g", got, want)
	}
}

// The safeguard, over streams of any kind: what was refused for its price is never worth more than Refuse times what was
// admitted, after every job.
func TestSafeguard(t *testing.T) {
	refused := 0
	for seed := range uint64(60) {
		draw := fromSeed(seed)
		limit := float64(draw(1, 4)) / 2
		s := learner4(t, 200, Learning{Refuse: limit, Memory: draw(1, 30)})
		admitted, lost := 0.0, 0.0
		for i := range 120 {
			if _, err := s.Advance(i + 1); err != nil {
				t.Fatal(err)
			}
			work, slots := int64(draw(1, 4)), draw(1, 6)
			if draw(0, 9) == 0 {
				work, slots = int64(draw(100, 400)), draw(100, 190)
			}
			switch d := offer(t, s, deadlined(fmt.Sprint(i), i+1, work, slots, float64(draw(1, 9)))); d.Verdict {
			case Admitted:
				admitted += d.Utility
			case TooExpensive:
				refused++
				lost += d.Utility
			}
			if lost > limit*admitted {
				t.Fatalf("seed %d, job %d: refused %g, admitted %g, limit %g", seed, i, lost, admitted, limit)
			}
		}
	}
	if refused < 20 {
		t.Errorf("only %d refused for their price", refused)
	}
}

func TestLearningOptions(t *testing.T) {
	cluster, bounds := plainCluster(2, 2)
	for _, test := range []struct {
		name   string
		bounds *Bounds
		learn  *Learning
		want   error
	}{
		{"neither", nil, nil, apportion.ErrConflict},
		{"both", bounds, &Learning{}, apportion.ErrConflict},
		{"memory", nil, &Learning{Memory: -1}, apportion.ErrNegative},
		{"refuse", nil, &Learning{Refuse: math.NaN()}, apportion.ErrNotFinite},
		{"displace by less than one", nil, &Learning{Displace: 0.99}, apportion.ErrRange},
		{"displace by a negative factor", nil, &Learning{Displace: -1}, apportion.ErrRange},
		{"displace by no number", nil, &Learning{Displace: math.NaN()}, apportion.ErrNotFinite},
		{"fine", nil, &Learning{Memory: 3, Refuse: -2, Displace: 1}, nil},
	} {
		if _, err := NewScheduler(cluster, test.bounds, &SchedulerOptions{Learn: test.learn}); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

// A snapshot of a scheduler that learns holds what it has learnt, and is none of one that does not.
func TestLearningSnapshot(t *testing.T) {
	s, _ := whales(t, Learning{})
	data, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	cluster, bounds := plainCluster(400, 2)
	again, err := RestoreScheduler(cluster, nil, &SchedulerOptions{Learn: &Learning{}}, data)
	if err != nil {
		t.Fatal(err)
	}
	whale := deadlined("another", 200, 700, 398, 10)
	want, err := s.Quote(whale)
	if got, fault := again.Quote(whale); err != nil || fault != nil || !cmp.Equal(got, want) || want.Verdict != TooExpensive {
		t.Errorf("%+v, %v, want %+v, %v", got, fault, want, err)
	}
	if again.learn.admitted != s.learn.admitted || again.learn.refused != s.learn.refused {
		t.Errorf("accounts %g, %g, want %g, %g", again.learn.admitted, again.learn.refused, s.learn.admitted, s.learn.refused)
	}
	// Of free bounds the fingerprint is the same: what differs is the sort of prices.
	if _, err := RestoreScheduler(cluster, freeBounds(1), nil, data); !errors.Is(err, apportion.ErrConflict) {
		t.Errorf("restored without learning: %v", err)
	}
	if _, err := RestoreScheduler(cluster, bounds, nil, data); !errors.Is(err, apportion.ErrConflict) {
		t.Errorf("restored with bounds: %v", err)
	}
}
