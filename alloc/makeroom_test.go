package alloc

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/rapidtest"
)

// What is refused without a look at others is refused by the looks too: where the cluster lacks a kind no victims make room, nor those
// beside whose fewest containers too little of it is left, and without a right to anything nothing is taken.
func TestPropRefusedUnasked(t *testing.T) {
	var lacked, short, rightless int
	rapidtest.Until(t, "a case is missing", func() bool { return lacked > 0 && short > 0 && rightless > 0 }, func(t *rapid.T) {
		p := genTeams(t, rapid.IntRange(1, 2).Draw(t, "servers"))
		p.Theta2 = 1 // so that no budget is in the way
		i := len(p.Applications) - 1
		p.Applications[i].Min += 2
		p.Applications[i].Max += 2
		ask := func() (*admission, int64) {
			a := &admission{draft: newDraft(resolve(p)), ctx: t.Context(), preempted: make(map[int]apportion.Reason)}
			return a, a.least(i)
		}
		a, n := ask()
		if len(a.r.fitting(i)) == 0 || a.place(i, n) {
			return
		}
		lacks := a.lacks(i, n)
		if lacks {
			lacked++
		}
		for last := range a.victims(i) {
			victims := a.victims(i)[:last+1]
			if !a.short(i, n, victims) {
				continue
			}
			if short++; a.exchanged(i, n, victims) {
				t.Fatalf("%d victims made room where there is said to be too little", len(victims))
			}
		}
		if a.roomByVictims(i, n) && lacks {
			t.Fatal("others made room where there is said to be too little")
		}
		a, n = ask()
		may := a.mayTake(i, n)
		if !may {
			rightless++
		}
		if a.reclaim(i, n) && !may {
			t.Fatal("something was taken without a right")
		}
	})
}

// An application of one container that is said to be stuck makes no room for another of one.
func TestPropStuck(t *testing.T) {
	stuck, made := 0, 0
	rapidtest.Until(t, "a case is missing", func() bool { return stuck > 0 && made > 0 }, func(t *rapid.T) {
		p := &Problem{Kinds: apportion.Kinds{"cpu", "memory"}, Theta1: 1, Theta2: 1, Previous: Allocation{}}
		for j := range rapid.IntRange(1, 3).Draw(t, "servers") {
			p.Servers = append(p.Servers, apportion.Server{ID: string(rune('a' + j)), Capacity: apportion.Resources{8, 8}})
		}
		for n := range rapid.IntRange(3, 9).Draw(t, "apps") {
			demand := apportion.Resources{rapid.Int64Range(1, 6).Draw(t, "cpu"), rapid.Int64Range(1, 6).Draw(t, "memory")}
			p.Applications = append(p.Applications, Application{ID: string(rune('a' + n)), Weight: 1, Form: Form{Demand: demand, Min: 1, Max: 1}})
		}
		d := newDraft(resolve(p))
		for i := range p.Applications {
			if d.place(i, 1) {
				d.enter(i)
				continue
			}
			tight := make(map[string]bool)
			for _, v := range d.victims(i) {
				is := d.stuck(i, 1, v, tight)
				if !d.exchange(i, 1, []int{v}) {
					stuck += map[bool]int{true: 1}[is]
					continue
				}
				if is {
					t.Fatalf("%s makes room for %s", p.Applications[v].ID, p.Applications[i].ID)
				}
				d.enter(i)
				made++
				break
			}
		}
	})
}

// By level a queue may take without a guarantee.
func TestMayTakeByLevel(t *testing.T) {
	p := gpuProblem(4)
	p.Queues = []drf.Queue{{ID: "a", Weight: 1}, {ID: "b", Weight: 1}}
	p.add(1, 4, 4).Queue = "a"
	p.Applications[0].Preemptible = true
	p.add(1, 1, 1).Queue = "b"
	for _, level := range []bool{false, true} {
		p.Options.Preempt, p.Options.ReclaimLevel = true, level
		if may := newDraft(resolve(p)).mayTake(1, 1); may != level {
			t.Errorf("by level %v: %v", level, may)
		}
	}
}
