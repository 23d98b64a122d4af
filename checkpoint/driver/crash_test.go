// This file crashes the driver at every record of a whole day of adjustments, before the record is durable and
// after it, alone or with its machine.

package driver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/internal/must"
)

// errCrash is what a driver ends with that dies.
var errCrash = errors.New("crash")

// dying is a journal whose driver dies at a record: left counts those until then, over all drivers of a day.
type dying struct {
	driver.Journal
	left  *int
	after bool // the record is durable
}

func (j *dying) Append(r checkpoint.Record) error {
	*j.left--
	if *j.left != 0 {
		return j.Journal.Append(r)
	}
	if j.after {
		return errors.Join(j.Journal.Append(r), errCrash)
	}
	return errCrash
}

// live is a world whose driver may die at any time, and is started again.
type live struct {
	*world
	crash  func() // what else is lost with the driver
	deaths int    // how often it has died
}

// mostDeaths is how often a driver may die in a day: it dies at one record, and at those that the next ones begin with.
const mostDeaths = 100

// again starts the next driver after one that has died.
func (l *live) again() {
	l.t.Helper()
	for {
		err := over(l.t, l.ended)
		must.Err(l.t, err, errCrash, "the driver ended with")
		// A driver that dies at whatever it begins with would be started again for ever.
		if l.deaths++; l.deaths > mostDeaths {
			l.t.Fatalf("the driver has died %d times, the last time with %v: %+v", l.deaths, err, l.d.State())
		}
		l.crash()
		must.Do(l.t, l.start())
		joined := true
		for id := range l.slots {
			if err := l.join(id); errors.Is(err, driver.ErrEnded) {
				joined = false
				break
			} else if _, dead := l.servers[id].state(); err != nil && dead == nil {
				l.t.Fatal(err)
			}
		}
		if joined {
			return
		}
	}
}

// sure applies events, again and again if nobody can know whether they were heard.
func (l *live) sure(event checkpoint.Event) {
	l.t.Helper()
	for {
		err := apply(l.d, event)
		switch {
		case err == nil, errors.Is(err, apportion.ErrDuplicate):
			return
		case !errors.Is(err, driver.ErrEnded):
			l.t.Fatal(err)
		}
		l.again()
	}
}

// until waits until a job is as wanted, whoever drives it.
func (l *live) until(job string, is func(*driver.JobState) bool) driver.JobState {
	l.t.Helper()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		s, err := l.d.Await(ctx, func(s *driver.State) bool {
			j, ok := s.Job(job)
			return ok && is(&j)
		})
		cancel()
		j, _ := s.Job(job)
		if err == nil {
			return j
		}
		must.Err(l.t, err, driver.ErrEnded, j)
		l.again()
	}
}

// day is starts, a save, a swap, a death, a suspension, a server that is lost and comes back, and ends.
func (l *live) day() {
	l.t.Helper()
	for _, job := range []string{"a", "b", "c"} {
		l.sure(submit(job))
	}
	l.sure(checkpoint.Adjust{Targets: map[string][]string{"a": {"s1", "s1", "s1"}, "b": {"s2", "s2", "s2"}, "c": {"s3"}}})
	l.until("a", on("s1", "s1", "s1"))
	l.until("b", on("s2", "s2", "s2"))
	l.until("c", on("s3"))
	l.servers["s1"].Work(10)
	l.sure(checkpoint.Checkpoint{Job: "a"})
	l.until("a", func(j *driver.JobState) bool { return j.Job.Newest().Step >= 10 && on("s1", "s1", "s1")(j) })
	l.sure(checkpoint.Adjust{Targets: map[string][]string{"a": {"s1", "s2", "s2"}, "b": {"s1", "s1", "s2"}}})
	moved := l.until("a", on("s1", "s2", "s2"))
	l.until("b", on("s1", "s1", "s2"))
	l.servers["s2"].Kill("a")
	l.until("a", func(j *driver.JobState) bool { return j.Job.Attempt > moved.Job.Attempt && on("s1", "s2", "s2")(j) })
	l.sure(adjust("b"))
	l.until("b", in(checkpoint.Idle))
	l.servers["s3"].set(nil, errors.New("the machine is off"))
	l.until("c", in(checkpoint.Idle))
	l.servers["s3"].Forget()
	l.servers["s3"].set(nil, nil)
	l.joins("s3")
	l.sure(adjust("c", "s3"))
	l.until("c", on("s3"))
	l.servers["s1"].Work(5)
	l.servers["s1"].Finish("a")
	ended := l.until("a", in(checkpoint.Ended))
	if ended.Job.Ending != checkpoint.Completed || ended.Job.Newest().Step < 10 {
		l.t.Errorf("%+v", ended.Job)
	}
	l.sure(checkpoint.Cancel{Job: "b"})
	l.until("b", in(checkpoint.Ended))
}

// settledWorld checks that the servers hold what the driver says, and nothing else.
func (l *live) settledWorld() {
	l.t.Helper()
	s := l.d.State()
	for i := range s.Jobs {
		j := &s.Jobs[i]
		for id, server := range l.servers {
			want := 0
			for _, held := range j.Containers {
				if held == id {
					want++
				}
			}
			must.Equal(l.t, server.Containers(j.Name), want, "job", j.Name, "containers on", id, "and the driver")
			if alive := server.Alive(j.Name); want == 0 && len(alive) > 0 {
				l.t.Errorf("attempts %v of job %q live on %s", alive, j.Name, id)
			}
		}
	}
}

func TestCrashAtEveryRecord(t *testing.T) {
	cases := 0
	seeds := 2
	if testing.Short() {
		seeds = 0
	}
	for seed := -1; seed < seeds; seed++ { // -1: the driver dies alone; 0: with all that its disk had not synced
		for _, after := range []bool{false, true} {
			for k := 1; ; k++ {
				died := crashDay(t, k, after, seed)
				if t.Failed() {
					t.Fatalf("record %d, durable %v, seed %d", k, after, seed)
				}
				if !died {
					break
				}
				// A day has some thirty records; one that has ever more is a fault of its own.
				if cases++; k > 1000 {
					t.Fatal("the day does not end")
				}
			}
		}
	}
	t.Logf("%d cases", cases)
	if least := 80 * (seeds + 1); cases < least {
		t.Errorf("only %d cases, want %d", cases, least)
	}
}

// crashDay lives a day in which the driver dies at the k-th record. It reports whether there was one.
func crashDay(t *testing.T, k int, after bool, seed int) (died bool) {
	synctest.Test(t, func(t *testing.T) {
		l := &live{world: newWorld(t, map[string]int64{"s1": 5, "s2": 5, "s3": 1})}
		left := k
		l.wrap = func(j driver.Journal) driver.Journal { return &dying{j, &left, after} }
		l.crash = func() {
			if seed == 0 {
				l.mem = l.mem.Crash(nil)
			} else if seed > 0 {
				l.mem = l.mem.Crash(rand.New(rand.NewPCG(uint64(seed), uint64(k))))
			}
		}
		l.setUp()
		l.day()
		l.settledWorld()
		l.close()
		died = left <= 0
	})
	return died
}

// setUp starts the first driver, which may die at once.
func (l *live) setUp() {
	l.t.Helper()
	must.Do(l.t, l.start())
	for _, id := range []string{"s1", "s2", "s3"} {
		l.joins(id)
	}
}

// joins has a server join whichever driver lives.
func (l *live) joins(id string) {
	l.t.Helper()
	for {
		err := l.join(id)
		if err == nil {
			return
		}
		must.Err(l.t, err, driver.ErrEnded, fmt.Errorf("%s: %w", id, err))
		l.again()
	}
}
