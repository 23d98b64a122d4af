//go:build unix

// This file lets one thing after the other go wrong while jobs run.

package managertest

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/apportion/apportion/examples/managertest/processes"
)

// What Play does in place of what it is asked for.
var (
	faultsFlag = flag.Int("faults", 0, "how many faults TestFaults lets happen, 0: some; and how many TestHours does, 0: none")
	forFlag    = flag.Duration("for", 0, "how long TestFaults lets faults happen, if there are not so many before; 0: no limit")
	moreFlag   = flag.Int("together", 5, "how many of them happen at the same time, at most")
	seedFlag   = flag.Uint64("seed", 0, "which faults TestFaults lets happen; 0: always the same")
)

// Fault is something that goes wrong.
// Do returns when the fault is over and what was broken runs again; the jobs may still be on their way to
// rest.
type Fault struct {
	Name string
	// Of is what it touches: faults of different things may happen at the same time. "": it happens alone.
	Of string
	Do func(r *rand.Rand)
}

// Wait waits for a time that is drawn.
func Wait(r *rand.Rand, from, to time.Duration) {
	time.Sleep(from + time.Duration(r.Int64N(int64(to-from))))
}

// common are the faults of the controller and of what it has started.
func (b *Bench) common() []Fault {
	kill := func(program string) func(*rand.Rand) {
		return func(r *rand.Rand) {
			if pids := processes.Of(b.Dir, program); len(pids) > 0 {
				_ = syscall.Kill(pids[r.IntN(len(pids))], syscall.SIGKILL) // it may have ended
			}
		}
	}
	return []Fault{
		{Name: "a worker is killed", Of: "worker", Do: kill("inhouse")},
		{Name: "a guard is killed", Of: "guard", Do: kill("apportion-guard")},
		{Name: "the controller is killed", Of: Controllers, Do: func(r *rand.Rand) {
			b.End()
			Wait(r, 0, 8*time.Second)
			b.Begin()
		}},
		{Name: "the controller is stopped for a while", Of: Controllers, Do: func(r *rand.Rand) {
			b.Signal(syscall.SIGSTOP)
			Wait(r, time.Second, 8*time.Second)
			b.Signal(syscall.SIGCONT)
		}},
		{Name: "a second controller waits, and follows the first when that is killed", Of: Controllers, Do: b.Follow},
		{Name: "a second controller leads while the first is stopped, which goes on with a plan that is stale", Of: Controllers, Do: b.Replace},
	}
}

// Controllers is what faults of the controller touch.
const Controllers = "controller"

// leadLimit is how long it may take until a controller leads: where leadership is a lease, that must be over.
const leadLimit = 90 * time.Second

// leads reports whether a controller leads: one that waits answers nobody.
func (b *Bench) leads(p *process) bool { return b.ask(p.address, "/state") != nil }

// Follow lets a second controller wait for the first, which is killed.
// The second must not lead while the first lives, which is looked at once, in the middle of the wait.
func (b *Bench) Follow(r *rand.Rand) {
	second := b.start(1 - b.now.number)
	Wait(r, time.Second, 4*time.Second)
	if b.leads(second) {
		b.Error("two controllers lead")
	}
	b.End()
	processes.Eventually(b, "the second controller leads", leadLimit, func() bool { return b.leads(second) })
	b.lead(second)
}

// Replace lets a second controller lead while the first is stopped and its lock is lost, as that of a machine that is cut off
// is. The first, when it goes on, must find that out and end.
// It is the fault that locks cannot prevent and fences must: two controllers that both believe in
// themselves.
func (b *Bench) Replace(r *rand.Rand) {
	first := b.now
	b.Signal(syscall.SIGSTOP)
	_ = os.Remove(filepath.Join(b.Shared, "master", "lock")) // where leadership is no lock there is none
	second := b.start(1 - b.now.number)
	processes.Eventually(b, "the second controller leads", leadLimit, func() bool { return b.leads(second) })
	// Calls go to the second from here on; the first, when it wakes, has work in its hands that is old.
	b.lead(second)
	Wait(r, 0, 5*time.Second)
	if err := first.Process.Signal(syscall.SIGCONT); err != nil {
		b.Error(err)
	}
	// An exit without an error would say that it had been asked to end, which nobody did.
	ended := make(chan error, 1)
	go func() { ended <- first.Wait() }()
	select {
	case err := <-ended:
		if err == nil {
			b.Error("the first controller has ended as if all were well")
		}
	case <-time.After(leadLimit):
		b.Error("the first controller goes on beside the second")
		_ = first.Process.Kill() // it may have ended
		<-ended
	}
}

// Another draws another job: its name, the most containers that it can use, its steps, and its weight, which is 1.
func (b *Bench) Another(r *rand.Rand) (name string, most, steps, weight int) {
	return fmt.Sprintf("job-%d", b.submitted.Add(1)), 1 + r.IntN(10), 1000 + r.IntN(2000), 1
}

// Play lets n faults happen, drawn from a seed: those that every cluster has, and more of its own. There are four jobs or more, up to
// five faults happen at the same time, and the workers' logs are asked after these. Every fault happens before any happens twice. In
// the end every job must end by itself.
// The same seed draws the same faults, at other moments: what runs meanwhile depends on the machine.
func (b *Bench) Play(c *Cluster, n int, seed uint64, own ...Fault) {
	b.Helper()
	n, seed = cmp.Or(*faultsFlag, n), cmp.Or(*seedFlag, seed)
	r := rand.New(rand.NewPCG(seed, 0))
	d := deck{all: slices.Concat(own, b.faultsOf(c), b.common()), r: r}
	start := time.Now()
	for played := 0; played < n && (*forFlag == 0 || time.Since(start) < *forFlag); {
		// Four jobs on three nodes are enough that somebody waits and somebody has something to give.
		for len(c.Jobs()) < 4 {
			b.more(c, r)
		}
		b.rests(c.Jobs)
		hand := d.draw(min(1+r.IntN(*moreFlag), n-played))
		began := time.Now()
		for _, one := range hand {
			b.Logf("%3d %s", played, one.Name)
			played++
		}
		b.happen(r, hand)
		b.rests(c.Jobs)
		b.Logf("    all is well after %.1f s", time.Since(began).Seconds())
		b.Check()
		if b.Failed() {
			return
		}
	}
	processes.Eventually(b, "every job ends", 240*time.Second, func() bool { b.Report(); return len(c.Jobs()) == 0 })
	b.Check()
}

// apart is how far the beginnings of faults of one hand are from each other, at most.
// It spans a save, a stop and a start, so that a fault may meet any of these.
const apart = 3 * time.Second

// happen lets faults happen, and waits until they have.
func (b *Bench) happen(r *rand.Rand, hand []Fault) {
	var all sync.WaitGroup
	for i, one := range hand {
		own := rand.New(rand.NewPCG(r.Uint64(), 0))
		all.Go(func() {
			if i > 0 {
				Wait(own, 0, apart)
			}
			one.Do(own)
		})
	}
	all.Wait()
}

// deck are faults in an order that is drawn: each comes before any comes twice.
type deck struct {
	all, left []Fault
	r         *rand.Rand
}

// draw takes the next fault, and beside it others that touch other things, up to n in all.
// n is at least 1. A fault that must be alone is drawn alone, and what is not drawn stays in its order for
// the next time.
func (d *deck) draw(n int) []Fault {
	if len(d.left) == 0 {
		d.left = slices.Clone(d.all)
		d.r.Shuffle(len(d.left), func(i, j int) { d.left[i], d.left[j] = d.left[j], d.left[i] })
	}
	hand, touched := d.left[:1:1], map[string]bool{d.left[0].Of: true, "": true}
	var rest []Fault
	for _, one := range d.left[1:] {
		if len(hand) < n && hand[0].Of != "" && !touched[one.Of] {
			touched[one.Of] = true
			hand = append(hand, one)
		} else {
			rest = append(rest, one)
		}
	}
	d.left = rest
	return hand
}
