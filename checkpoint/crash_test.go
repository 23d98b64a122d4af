// This file crashes masters and disks at every point of a whole day of adjustments, and lets every
// operation fail once.

package checkpoint_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// day is a scenario: starts, a resize that needs room which another gives up, a swap, a save, a
// suspension and return, a death, the loss of a server, an end. What is refused since a crash has
// swallowed what came before is skipped.
var day = []func(s *sim) checkpoint.Event{
	func(*sim) checkpoint.Event { return checkpoint.Submit{Job: "a", Demand: slot} },
	func(*sim) checkpoint.Event { return checkpoint.Submit{Job: "b", Demand: slot, Min: 2} },
	adjust(map[string][]string{"a": {"s1", "s1"}, "b": {"s2", "s2"}}),
	func(*sim) checkpoint.Event { return checkpoint.Checkpoint{Job: "a"} },
	adjust(map[string][]string{"a": {"s2", "s1"}, "b": {"s1", "s2"}}),
	adjust(map[string][]string{"a": {"s3"}, "b": {"s1", "s1", "s2", "s2"}}),
	adjust(map[string][]string{"b": nil}),
	func(*sim) checkpoint.Event { return checkpoint.Submit{Job: "c", Demand: slot} },
	adjust(map[string][]string{"a": {"s1", "s2", "s3"}, "b": {"s1", "s2"}, "c": {"s3"}}),
	func(s *sim) checkpoint.Event { s.world.kill("a", "s1"); return nil },
	func(s *sim) checkpoint.Event { s.fell("s2"); return nil },
	func(s *sim) checkpoint.Event { s.raise("s2"); return nil },
	adjust(map[string][]string{"b": {"s1", "s2"}}),
	func(*sim) checkpoint.Event { return checkpoint.Cancel{Job: "c"} },
	func(s *sim) checkpoint.Event {
		if ms := s.alive(); ms != nil {
			if j, ok := ms.m.Job("a"); ok {
				return checkpoint.Finished{Job: "a", Attempt: j.Attempt}
			}
		}
		return nil
	},
}

func adjust(targets map[string][]string) func(*sim) checkpoint.Event {
	return func(*sim) checkpoint.Event { return checkpoint.Adjust{Targets: targets} }
}

// play lets a sim live through the day, each event after all is done that the last has led to. It
// returns what went wrong; "": nothing.
func (s *sim) play() string {
	for _, event := range day {
		s.lead()
		s.world.work()
		asked := 0
		for e := event(s); e != nil; e = event(s) {
			if asked++; asked > 1000 {
				return fmt.Sprintf("nobody takes %T %+v: %q", e, e, s.world.faults)
			}
			if ms := s.alive(); ms != nil {
				if _ = s.step(ms, e); !ms.dead {
					break
				}
			}
			s.lead() // the caller asks again, for it cannot know whether it was heard
		}
		s.rest()
	}
	return s.drain()
}

// lead makes sure that there is a master, if one can be had.
func (s *sim) lead() {
	for range 3 {
		if s.alive() != nil || s.open() != nil {
			return
		}
	}
}

// rest delivers all messages in order, and lets some time pass.
func (s *sim) rest() {
	for range 12 {
		s.lead()
		if ms := s.alive(); ms != nil {
			s.poll(ms)
		}
		for len(s.inflight)+len(s.replies) > 0 {
			if len(s.inflight) > 0 {
				s.deliver(0)
			}
			if len(s.replies) > 0 {
				s.answer(0)
			}
			s.lead()
		}
		if ms := s.alive(); ms != nil && s.still(ms) {
			return
		}
		s.tick(time.Minute)
	}
}

// summary is where all jobs are.
func (s *sim) summary() string {
	var text string
	for _, j := range s.alive().m.Jobs() {
		text += fmt.Sprintf("%s %s%s %v %v; ", j.Name, j.Phase, j.Ending, j.Containers, j.Reason.Constraint)
	}
	return text
}

// undisturbed is the summary of the day if nothing fails.
const undisturbed = "a endedcompleted [] ; b running [s1 s2] ; c endedcancelled [] ; "

func daySim() *sim { return newSim(map[string]int64{"s1": 2, "s2": 2, "s3": 1}) }

func TestDay(t *testing.T) {
	s := daySim()
	must.Equal(t, s.play(), "")
	must.Equal(t, s.summary(), undisturbed)
	t.Logf("%d effects, %d resumes, %d saves", s.world.tally.effects, s.world.tally.resumes, s.world.tally.saves)
	if s.world.tally.resumes < 15 || s.world.tally.saves < 5 {
		t.Errorf("too little happened")
	}
}

// TestEveryOperationFails lets the k-th operation on the disk fail, for every k: once, and from then on
// until the disk is repaired.
func TestEveryOperationFails(t *testing.T) {
	cases := 0
	for _, lasting := range []bool{false, true} {
		for k := 1; ; k++ {
			s := daySim()
			left := k
			s.hook = func(vfstest.Op, string) error {
				left--
				if left == 0 || lasting && left < 0 && left > -40 {
					return vfstest.ErrInjected
				}
				return nil
			}
			must.Equal(t, s.play(), "", "operation", k, "lasting", lasting)
			if left > 0 {
				break
			}
			if got := s.summary(); !lasting && got != undisturbed {
				t.Fatalf("operation %d: %s, want %s", k, got, undisturbed)
			}
			cases++
		}
	}
	t.Logf("%d cases", cases)
	if cases < 500 {
		t.Errorf("only %d operations failed", cases)
	}
}

// TestEveryEffectFails lets the k-th effect fail in every way, once or together with all later ones of
// its kind.
func TestEveryEffectFails(t *testing.T) {
	cases := 0
	for _, way := range []fate{refused, partly, unanswered, vanished, delayed} {
		for _, lasting := range []bool{false, true} {
			for k := 1; ; k++ {
				s := daySim()
				count, kind := 0, checkpoint.Action("")
				s.fate = func(msg *message) fate {
					count++
					switch {
					case count == k:
						kind = msg.e.Action
					case count < k || !lasting || msg.e.Action != kind:
						return well
					}
					if way == partly && len(msg.e.Servers) == 0 {
						return refused
					}
					return way
				}
				must.Equal(t, s.play(), "", "effect", k, kind, way, "lasting", lasting)
				if count < k {
					break
				}
				cases++
			}
		}
	}
	t.Logf("%d cases", cases)
}

// TestCrashEverywhere crashes the master at every point of the day: before and after every record and
// after every effect. The machine goes with it in some runs, with all that the disk had not synced.
func TestCrashEverywhere(t *testing.T) {
	cases, points := 0, map[string]int{}
	seeds := 3
	if testing.Short() {
		seeds = 1
	}
	for seed := -1; seed < seeds; seed++ { // -1: only the process dies
		for k := 1; ; k++ {
			s := daySim()
			point := s.crashAt(k, seed)
			must.Equal(t, s.play(), "", "crash", k, *point, "), seed", seed)
			if *point == "" {
				break
			}
			must.Equal(t, s.summary(), undisturbed, "crash", k, *point, "), seed", seed)
			cases++
			points[*point]++
		}
	}
	t.Logf("%d cases: %v", cases, points)
}

// crashAt lets the k-th point be a crash. It returns where that was.
func (s *sim) crashAt(k, seed int) *string {
	point := new(string)
	left := k
	s.crash = func(at string) bool {
		left--
		if left != 0 {
			return false
		}
		*point = at
		s.powerLoss(seed, k)
		return true
	}
	return point
}

// powerLoss replaces the disk by what survives a crash at the k-th point; seed -1 loses nothing, 0 all
// that was not synced.
func (s *sim) powerLoss(seed, k int) {
	switch {
	case seed == 0:
		s.mem = s.mem.Crash(nil)
	case seed > 0:
		s.mem = s.mem.Crash(rand.New(rand.NewPCG(uint64(seed), uint64(k))))
	}
}

// TestCrashInsideOperations crashes the machine within every operation on the disk: the operation is
// half done, and all that is not synced may be lost.
func TestCrashInsideOperations(t *testing.T) {
	cases := 0
	seeds := 4
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		for k := 1; ; k++ {
			s := daySim()
			left := k
			s.hook = func(op vfstest.Op, _ string) error {
				left--
				if left == -1 { // whatever the master makes of the error, the machine goes down
					s.powerLoss(seed, k)
					s.down = true
				}
				if left == 0 || s.down {
					return vfstest.ErrInjected
				}
				return nil
			}
			must.Equal(t, s.play(), "", "operation", k, "seed", seed)
			if left > 0 {
				break
			}
			must.Equal(t, s.summary(), undisturbed, "operation", k, "seed", seed)
			cases++
		}
	}
	t.Logf("%d cases", cases)
}
