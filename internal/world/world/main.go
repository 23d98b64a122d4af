// This file is the command: it plays seeds for a time, and shrinks what it finds.

// World plays seeds of package world, from one on, for a time, prints what each has found, and the command that repeats it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/apportion/apportion/internal/world"
	"github.com/apportion/apportion/internal/world/model"
)

// settings are what is played, and for how long.
type settings struct {
	first, count uint64
	limit        time.Duration
	shrink, tlc  bool
	side         int
	flags        []string
}

func main() {
	var s settings
	flag.Uint64Var(&s.first, "seed", 1, "the first seed")
	flag.Uint64Var(&s.count, "seeds", 1, "how many seeds are played; 0: as many as the time allows")
	flag.DurationVar(&s.limit, "time", time.Hour, "how long seeds are begun")
	flag.BoolVar(&s.shrink, "shrink", false, "leave out the faults that a finding does not need")
	flag.BoolVar(&s.tlc, "tlc", false, "have the TLC that APPORTION_TLC names look at the trace of each job")
	flag.IntVar(&s.side, "side", runtime.NumCPU(), "how many seeds are played side by side")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: world [-seed 1] [-seeds 1] [-time 1h] [-shrink] [-tlc] [-- flags of package cluster]")
		flag.PrintDefaults()
	}
	flag.Parse()
	s.flags = flag.Args()
	if err := s.play(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// play plays the seeds and prints what came of them. The error says that one has found something, or did not come to its end.
func (s *settings) play(ctx context.Context) error {
	w, err := world.New(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	t := &tally{settings: s, world: w, began: time.Now()}
	if s.tlc {
		s.flags = append(s.flags, "-steps")
		if t.spec, err = os.ReadFile("../../checkpoint/RUN.tla"); err != nil {
			return err
		}
	}
	var under sync.WaitGroup
	for range s.side {
		under.Go(func() {
			for seed, more := t.next(); more; seed, more = t.next() {
				t.one(ctx, seed)
			}
		})
	}
	under.Wait()
	fmt.Printf("%d seeds, %.1f hours of clusters in %.0f s, %d jobs completed, %d seeds have found something\n",
		t.played, t.hours, time.Since(t.began).Seconds(), t.jobs, t.found)
	if t.found > 0 {
		return fmt.Errorf("world: %d of %d seeds have found something", t.found, t.played)
	}
	return nil
}

// tally is what came of the seeds so far.
type tally struct {
	*settings
	world *world.World
	began time.Time
	spec  []byte // of the traces

	mu                   sync.Mutex
	begun, played, found uint64
	jobs                 int
	hours                float64
}

// next returns the next seed, and whether there is one and time for it.
func (t *tally) next() (uint64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun++
	return t.first + t.begun - 1, (t.count == 0 || t.begun <= t.count) && time.Since(t.began) < t.limit
}

func (t *tally) one(ctx context.Context, seed uint64) {
	out := io.Discard
	if t.count == 1 {
		out = os.Stdout
	}
	s, err := t.world.Play(ctx, seed, out, t.flags...)
	if err == nil && t.tlc && len(s.Traces) > 0 {
		err = model.Check(ctx, os.Getenv("APPORTION_TLC"), t.spec, s.Traces)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.played++
	t.hours += s.Hours
	t.jobs += s.Completed
	if err == nil && len(s.Violations) == 0 {
		return
	}
	t.found++
	fmt.Printf("seed %d: %v %s\n\trepeat: go run -C internal/world ./world -seed %d -- -trace %s\n", seed, err, strings.Join(s.Violations, "\n\t"), seed, strings.Join(t.flags, " "))
	if err == nil && t.shrink {
		needed, err := t.world.Shrink(ctx, seed, func(int) {}, t.flags...)
		fmt.Printf("\tfaults that are enough: %v %v\n", needed, err)
	}
}
