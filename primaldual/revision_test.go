// This file tests revision against its definition: promises, budgets, and what is promised already.

package primaldual

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Nobody is moved past the slot that it was promised: a job that fits only so is refused.
func TestRevisionKeepsPromises(t *testing.T) {
	s := learner4(t, 6, Learning{})
	offer(t, s, deadlined("first", 1, 8, 2, 10))  // slots 1 and 2, all of them
	offer(t, s, deadlined("second", 1, 8, 6, 10)) // slots 3 and 4
	if d := offer(t, s, deadlined("third", 1, 4, 2, 10)); d.Verdict != NoRoom {
		t.Errorf("%v: it fits only if the first job is late", d.Verdict)
	}
	if d := offer(t, s, deadlined("fourth", 1, 4, 3, 10)); !d.Admitted || d.Completion != 3 {
		t.Errorf("%v in slot %d, want slot 3, which the second job leaves", d.Verdict, d.Completion)
	}
	for id, by := range map[string]int{"first": 2, "second": 6} {
		if got, _ := s.Schedule(id); got.completion() > by {
			t.Errorf("%s ends in %d, promised by %d", id, got.completion(), by)
		}
	}
	// What is worth less and less is promised the very slot of its decision.
	falls := deadlined("falls", 1, 4, 1, 0)
	falls.Utility = Linear{Start: 10, PerSlot: 1}
	d := offer(t, s, falls)
	if r := s.jobs["falls"]; !d.Admitted || r.promise != d.Completion {
		t.Errorf("%v in slot %d, promised by %d", d.Verdict, d.Completion, r.promise)
	}
}

// After a failure a promise is what the new decision says.
func TestPromiseAfterFailure(t *testing.T) {
	s := learner4(t, 6, Learning{})
	j := deadlined("j", 1, 8, 2, 10)
	j.Utility = Steps{{1, 10}, {4, 5}}
	offer(t, s, j)
	out, err := s.Fail("w0", 1)
	if err != nil || len(out) != 1 || out[0].Decision.Utility != 5 {
		t.Fatalf("%+v, %v, want the second step", out, err)
	}
	if got := s.jobs["j"].promise; got != 5 {
		t.Errorf("promised by %d, want 5", got)
	}
}

// Halving finds the level that trying all of them in turn finds.
func TestPlaceFindsTheFirstLevel(t *testing.T) {
	revised := 0
	for seed := range uint64(200) {
		draw := fromSeed(seed)
		s := learner4(t, 12, Learning{})
		for i := range draw(1, 6) {
			offer(t, s, deadlined(fmt.Sprint(i), 1, int64(draw(1, 12)), draw(1, 12), 10))
		}
		j := deadlined("steps", 1, int64(draw(1, 8)), 1, 0)
		var steps Steps
		for within := range 12 {
			if draw(0, 1) == 1 {
				steps = append(steps, Step{within, float64(20 - within)})
			}
		}
		j.Utility = steps
		want := 0.0
		for _, step := range steps {
			w := &wish{job: &j, left: remainder{work: j.WorkerSlots(), first: 1}, until: 1 + step.Within, number: s.next}
			_, fits := s.direct(w)
			if !fits {
				_, fits = s.makeRoom(w)
			}
			if fits {
				want = step.Value
				break
			}
		}
		d := offer(t, s, j)
		if d.Utility != want {
			t.Fatalf("seed %d: worth %g, want %g", seed, d.Utility, want)
		}
		revised += min(1, len(d.Revised))
	}
	if revised < 20 {
		t.Errorf("only %d found room by revision", revised)
	}
}

// What admitted jobs need of a window, case by case.
func TestCommitted(t *testing.T) {
	s := learner4(t, 10, Learning{})
	offer(t, s, deadlined("by 4", 1, 8, 4, 10))    // 2 slots of the cluster
	offer(t, s, deadlined("by 10", 1, 20, 10, 10)) // 5 slots
	for _, test := range []struct {
		from, to int
		want     float64
	}{
		{1, 10, 7},
		{1, 4, 2 + 5*4.0/10}, // an even part of what may end later
		{1, 3, 2*3.0/4 + 5*3.0/10},
		{1, 9, 2 + 5*9.0/10},
		{5, 10, 3}, // slots 3 to 7 are the second job's
	} {
		if got := s.committed(test.from, test.to); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("slots %d to %d: %g, want %g", test.from, test.to, got, test.want)
		}
	}
}

// A quote changes nothing, whatever was tried for it.
func TestQuoteChangesNothing(t *testing.T) {
	s := learner4(t, 6, Learning{})
	offer(t, s, deadlined("patient", 1, 12, 6, 10))
	before, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range []Job{deadlined("urgent", 1, 8, 2, 10), deadlined("too much", 1, 16, 4, 10)} {
		d, err := s.Quote(j)
		if err != nil || d.Admitted != (i == 0) {
			t.Fatalf("%v, %v", d.Verdict, err)
		}
		if after, _ := s.Snapshot(); !cmp.Equal(before, after) {
			t.Errorf("quoting %s changed the scheduler", j.ID)
		}
	}
}

// A failure names every job whose slots it changes, those that only make room for others too, with the slots that the job ends with.
func TestFailNamesAllWhoMove(t *testing.T) {
	others := 0
	for seed := range uint64(100) {
		draw := fromSeed(seed)
		s := learner4(t, 12, Learning{})
		before := map[string]Schedule{}
		for i := range 6 {
			offer(t, s, deadlined(fmt.Sprint(i), 1, int64(draw(1, 8)), draw(2, 12), 10))
		}
		for _, r := range s.byNumber() {
			before[r.job.ID] = r.schedule.clone()
		}
		machine, _ := s.find("w0")
		out, err := s.Fail("w0", draw(1, 4))
		if err != nil {
			t.Fatal(err)
		}
		after := map[string]Schedule{}
		for _, d := range out {
			after[d.ID] = d.Decision.Schedule
			if d.Decision.Admitted && !s.ledger.holds(before[d.ID], machine, 1) {
				others++
			}
		}
		for id, was := range before {
			now, _ := s.Schedule(id)
			told, named := after[id]
			if !named {
				told = was
			}
			if !now[len(now)-len(told):].equal(told) {
				t.Errorf("seed %d: job %s runs %v, told %v", seed, id, now, told)
			}
		}
	}
	if others < 10 {
		t.Errorf("only %d jobs made room for others", others)
	}
}
