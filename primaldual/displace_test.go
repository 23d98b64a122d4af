// This file tests displacement: who goes, for whom, and what the account allows.

package primaldual

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gone returns who is displaced by a decision.
func gone(d Decision) []string {
	var ids []string
	for i := range d.Displaced {
		ids = append(ids, d.Displaced[i].ID)
	}
	return ids
}

// A cluster of four workers for four slots is taken by a long job; short ones come that are each worth half as much or the
// same, and find no room.
func TestDisplace(t *testing.T) {
	for _, test := range []struct {
		name     string
		learning Learning
		work     int64 // of the short job, due in the first slot
		worth    float64
		want     []string // who goes
	}{
		{"half the load for the same worth", Learning{Displace: 2}, 4, 10, []string{"long"}},
		{"the same, if the account allows", Learning{Displace: 2, Refuse: 0.49}, 4, 10, nil},
		{"the same, without account", Learning{Displace: 2, Refuse: -1}, 4, 10, nil},
		{"the same, where promises are kept", Learning{}, 4, 10, nil},
		{"less than what goes", Learning{Displace: 2}, 4, 9, nil},
		{"not dense enough", Learning{Displace: 3.8}, 4, 10, nil},
		{"just dense enough", Learning{Displace: 3.7}, 4, 10, []string{"long"}},
	} {
		s := learner4(t, 4, test.learning)
		offer(t, s, deadlined("old", 1, 1, 4, 10)) // for the account: it is dense, and stays
		offer(t, s, deadlined("long", 1, 15, 4, 10))
		short := deadlined("short", 1, test.work, 1, test.worth)
		before, err := s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		quote, err := s.Quote(short)
		if after, _ := s.Snapshot(); err != nil || !bytes.Equal(before, after) {
			t.Fatalf("%s: a quote changes the scheduler (%v)", test.name, err)
		}
		d := offer(t, s, short)
		if !cmp.Equal(d, quote) || !slices.Equal(gone(d), test.want) || d.Admitted != (test.want != nil) {
			t.Errorf("%s: %v, displaced %v, want %v", test.name, d.Verdict, gone(d), test.want)
		}
		if _, ok := s.Schedule("long"); ok != (test.want == nil) {
			t.Errorf("%s: the long job runs: %v", test.name, ok)
		}
		if err := s.recount(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// What is done of a job counts: nearly through, it is worth more a unit than one that begins.
func TestDisplaceSparesWhatIsNearlyDone(t *testing.T) {
	s := learner4(t, 5, Learning{Displace: 2})
	offer(t, s, deadlined("long", 1, 16, 4, 10))
	if _, err := s.Advance(4); err != nil {
		t.Fatal(err)
	}
	if d := offer(t, s, deadlined("short", 4, 3, 1, 10)); d.Admitted {
		t.Errorf("displaced %v, of which four worker-slots are left", d.Displaced)
	}
}

// As few go as make room, the least worth a unit first, and those whose place is not needed stay.
func TestDisplaceAsFewAsNeeded(t *testing.T) {
	s := learner4(t, 8, Learning{Displace: 1})
	early := deadlined("early", 1, 8, 2, 5) // slots 1 and 2
	offer(t, s, early)
	for i, worth := range []float64{3, 2, 4} { // two slots each, up to slot 8
		offer(t, s, deadlined(fmt.Sprint("late", i), 1, 8, 4+2*i, worth))
	}
	// The poorest is in the way of nobody who ends by slot 2: it goes and comes back, the early one goes for good.
	d := offer(t, s, deadlined("rich", 1, 8, 2, 100))
	if want := []string{"early"}; !slices.Equal(gone(d), want) {
		t.Errorf("displaced %v, want %v", gone(d), want)
	}
	if len(s.jobs) != 4 {
		t.Errorf("%d jobs", len(s.jobs))
	}
	if err := s.recount(); err != nil {
		t.Error(err)
	}
}

// Over streams of any kind the worth that is held never falls by an offer, and all that was lost, to prices or to others, is
// at most Refuse times it.
func TestDisplaceHoldsMore(t *testing.T) {
	displaced := 0
	for seed := range uint64(60) {
		draw := fromSeed(seed)
		limit := float64(draw(1, 4)) / 2
		s := learner4(t, 200, Learning{Refuse: limit, Displace: 1 + float64(draw(0, 4))/2})
		worth, held, lost := map[string]float64{}, 0.0, 0.0
		for i := range 100 {
			if _, err := s.Advance(i + 1); err != nil {
				t.Fatal(err)
			}
			work := int64(draw(1, 4))
			if draw(0, 4) == 0 {
				work = int64(draw(10, 60))
			}
			j := deadlined(fmt.Sprint(i), i+1, work, draw(int(work)/4+1, 2*int(work)), float64(draw(5, 9)))
			d := offer(t, s, j)
			before := held
			for _, loser := range d.Displaced {
				displaced++
				held -= worth[loser.ID] - loser.Decision.Utility
				lost += worth[loser.ID] - loser.Decision.Utility
				worth[loser.ID] = loser.Decision.Utility
			}
			if d.Verdict == TooExpensive {
				lost += d.Utility
			}
			worth[j.ID] = d.Utility
			if d.Admitted {
				held += d.Utility
			}
			if held < before || lost > limit*held+1e-9 {
				t.Fatalf("seed %d, job %d: held %g, then %g; lost %g, limit %g", seed, i, before, held, lost, limit)
			}
		}
	}
	if displaced < 20 {
		t.Errorf("only %d jobs were displaced", displaced)
	}
}

// What is left of a displaced job is offered again to the room that remains: one that is still worth something after its
// deadline goes on then, with its work before, and the account holds only what it has lost by that.
func TestDisplacedGoesOn(t *testing.T) {
	for _, test := range []struct {
		name    string
		late    Steps // the utility of the job that is displaced
		utility float64
		ends    int
	}{
		{"worth less later", Steps{{Within: 4, Value: 10}, {Within: 6, Value: 4}}, 4, 6},
		{"worth nothing later", Steps{{Within: 4, Value: 10}}, 0, 0},
		{"just long enough", Steps{{Within: 4, Value: 10}, {Within: 5, Value: 4}}, 4, 6},
	} {
		s := learner4(t, 12, Learning{Displace: 2})
		offer(t, s, deadlined("dense", 1, 4, 1, 20)) // for the account: slot 1
		long := deadlined("long", 1, 16, 5, 10)      // slots 2 to 5
		long.Utility = test.late
		offer(t, s, long)
		if _, err := s.Advance(3); err != nil {
			t.Fatal(err)
		}
		before := *s.learn
		d := offer(t, s, deadlined("short", 3, 4, 1, 12)) // slot 3, which long has
		if got := gone(d); !slices.Equal(got, []string{"long"}) {
			t.Fatalf("%s: displaced %v", test.name, got)
		}
		again := d.Displaced[0].Decision
		if again.Admitted != (test.utility > 0) || again.Utility != test.utility || again.Completion != test.ends {
			t.Errorf("%s: %+v", test.name, again)
		}
		if lost := s.learn.refused - before.refused; lost != 10-test.utility {
			t.Errorf("%s: the account has lost %g", test.name, lost)
		}
		if held := s.learn.admitted - before.admitted; held != 12-10+test.utility {
			t.Errorf("%s: the account holds %g more", test.name, held)
		}
		now, runs := s.Schedule("long")
		if runs != again.Admitted {
			t.Fatalf("%s: it runs: %v", test.name, runs)
		}
		if runs && (now.WorkerSlots() != 16 || now[0].Slot != 2 || now[1].Slot != 4) {
			t.Errorf("%s: it runs %v", test.name, now)
		}
		if !runs && (again.Reason.Constraint != NoRoom.String() || again.Reason.Text == "") {
			t.Errorf("%s: %+v", test.name, again.Reason)
		}
		if _, err := s.Complete("short", 3); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if err := s.recount(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// Those who are displaced together are offered again one by one: where there is late room for one of them, the older has it.
func TestDisplacedGoOnInTurn(t *testing.T) {
	s := learner4(t, 12, Learning{Displace: 2})
	for _, id := range []string{"older", "younger"} {
		j := deadlined(id, 1, 6, 3, 10)
		j.Utility = Steps{{Within: 2, Value: 10}, {Within: 4, Value: 4}}
		offer(t, s, j)
	}
	d := offer(t, s, deadlined("wide", 1, 12, 3, 60)) // slots 1 to 3, all of them; two slots are left of any worth
	if got := gone(d); !slices.Equal(got, []string{"older", "younger"}) {
		t.Fatalf("displaced %v", got)
	}
	if a, b := d.Displaced[0].Decision, d.Displaced[1].Decision; !a.Admitted || a.Utility != 4 || b.Admitted {
		t.Errorf("the older %v, worth %g; the younger %v", a.Verdict, a.Utility, b.Verdict)
	}
	if err := s.recount(); err != nil {
		t.Error(err)
	}
}
