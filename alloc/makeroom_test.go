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
