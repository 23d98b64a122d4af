// This file lets one thing after the other go wrong while jobs run.

package besidetest

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"
)

// What Play does in place of what it is asked for.
var (
	faultsFlag = flag.Int("faults", 0, "how many faults TestFaults lets happen, one after the other; 0: some")
	seedFlag   = flag.Uint64("seed", 0, "which faults TestFaults lets happen; 0: always the same")
)

// Fault is something that goes wrong.
type Fault struct {
	Name string
	Do   func(r *rand.Rand)
}

// Wait waits for a time that is drawn.
func Wait(r *rand.Rand, from, to time.Duration) {
	time.Sleep(from + time.Duration(r.Int64N(int64(to-from))))
}

// common are the faults that every cluster has.
func (b *Bench) common() []Fault {
	kill := func(program string) func(*rand.Rand) {
		return func(r *rand.Rand) {
			if pids := Processes(b.Dir, program); len(pids) > 0 {
				_ = syscall.Kill(pids[r.IntN(len(pids))], syscall.SIGKILL) // it may have ended
			}
		}
	}
	return []Fault{
		{"a worker is killed", kill("inhouse")},
		{"a guard is killed", kill("apportion-guard")},
		{"the controller is killed", func(r *rand.Rand) {
			b.End()
			Wait(r, 0, 8*time.Second)
			b.Begin()
		}},
		{"the controller is stopped for a while", func(r *rand.Rand) {
			b.Signal(syscall.SIGSTOP)
			Wait(r, time.Second, 8*time.Second)
			b.Signal(syscall.SIGCONT)
		}},
	}
}

// Another draws another job: its name, the most containers that it can use, and its steps.
func (b *Bench) Another(r *rand.Rand) (name string, most, steps int) {
	b.submitted++
	return fmt.Sprintf("job-%d", b.submitted), 1 + r.IntN(10), 1000 + r.IntN(2000)
}

// Play lets n faults happen, drawn from a seed, those of the cluster and those that every cluster has, on four jobs or more,
// and asks the workers' logs after each. In the end every job must end by itself. submitted are the jobs that have not
// ended, and more submits another.
func (b *Bench) Play(own []Fault, n int, seed uint64, submitted func() []string, more func(r *rand.Rand)) {
	b.Helper()
	n, seed = cmp.Or(*faultsFlag, n), cmp.Or(*seedFlag, seed)
	all, r := append(own, b.common()...), rand.New(rand.NewPCG(seed, 0))
	for i := range n {
		for len(submitted()) < 4 {
			more(r)
		}
		b.Rests(submitted)
		// Every fault happens, if there is time, and in another order for every seed.
		one := all[(i+r.IntN(2)*r.IntN(len(all)))%len(all)]
		began := time.Now()
		b.Logf("%3d %s", i, one.Name)
		one.Do(r)
		b.Rests(submitted)
		b.Logf("    all is well after %.1f s", time.Since(began).Seconds())
		b.Check()
		if b.Failed() {
			return
		}
	}
	Eventually(b, "every job ends", 240*time.Second, func() bool { b.Report(); return len(submitted()) == 0 })
	b.Check()
}
