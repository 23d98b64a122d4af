// This file tests the cluster manager in memory: what it starts and ends, and what its guards and trainers do step by step.

package managedtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
)

// length is that of leases here, by a clock that the tests move.
const length = 10 * time.Second

// bench is a cluster and the desk of a master, with one clock.
type bench struct {
	*testing.T
	*Cluster
	desk *guard.Desk
	now  time.Time
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, now: time.Unix(1000, 0)}
	clock := func() time.Time { return b.now }
	b.desk = guard.NewDesk(1, length, time.Second, clock)
	b.Cluster = New(func() *guard.Desk { return b.desk }, clock)
	return b
}

// start asks for an attempt of job lr on some servers, and returns the folder of its checkpoints.
func (b *bench) start(attempt int64, servers ...string) string {
	b.Helper()
	dir := b.TempDir()
	run := runner.Run{Job: "lr", Attempt: attempt, Containers: servers, Dir: dir}
	must.Do(b, b.Start(b.Context(), managed.Task{Run: run, Epoch: 1}))
	return dir
}

// stop stops what nothing is left of at once.
func (b *bench) stop(job string, attempt int64, server string) {
	b.Helper()
	if left, err := b.Stop(b.Context(), job, attempt, server); left || err != nil {
		b.Fatalf("something is left of %s on %s: %t, %v", job, server, left, err)
	}
}

// step lets some time pass, and all guards claim.
func (b *bench) step(after time.Duration) {
	b.Helper()
	b.now = b.now.Add(after)
	must.Do(b, b.Step())
}

// stands is how every container of job lr stands.
func (b *bench) stands() string {
	var list []string
	b.Each("lr", func(c *Container) {
		how := "waits"
		switch {
		case c.Alive():
			how = "runs"
		case c.State.Ended != nil:
			how = c.State.Ended.String()
		}
		list = append(list, fmt.Sprint(c.Attempt, " ", c.Server, " ", c.Rank, " ", how))
	})
	return strings.Join(list, ", ")
}

// is fails the test unless the containers stand so.
func (b *bench) is(want string) {
	b.Helper()
	if got := b.stands(); got != want {
		b.Errorf("the containers stand so: %s, want %s", got, want)
	}
}

// A container is there for every rank, and runs when its master vouches for it and not before.
func TestStart(t *testing.T) {
	b := newBench(t)
	b.start(1, "n1", "n1", "n2")
	b.is("1 n1 0 waits, 1 n1 1 waits, 1 n2 2 waits")
	b.step(0)
	b.is("1 n1 0 waits, 1 n1 1 waits, 1 n2 2 waits") // the desk knows nothing of it
	b.desk.Begin("lr", 1)
	b.step(0)
	b.is("1 n1 0 runs, 1 n1 1 runs, 1 n2 2 runs")
	if diff := cmp.Diff([]int64{1}, b.Live("lr", "n1")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if list := b.Live("lr", "n3"); len(list) > 0 {
		t.Errorf("%v", list)
	}
	lives := map[string]bool{}
	b.Each("", func(c *Container) { lives[c.Life] = true })
	if len(lives) != 3 {
		t.Errorf("the guards are called %v", lives)
	}
}

// An attempt is started once, and none below one that was asked for or stopped, until the manager has forgotten all of that.
func TestStartsOnce(t *testing.T) {
	b := newBench(t)
	b.start(2, "n1")
	b.start(2, "n1")
	b.start(1, "n1")
	b.is("2 n1 0 waits")
	b.stop("lr", 5, "n1")
	b.start(5, "n1")
	b.start(6, "n2")
	ended := "2 n1 0 " + guard.End{Code: -1, Signal: "terminated", Why: guard.Asked}.String()
	b.is(ended + ", 6 n2 0 waits")
	for attempt, want := range map[int64]int{1: 0, 2: 1, 5: 0, 6: 1} {
		if got := b.Starts("lr", attempt); got != want {
			t.Errorf("attempt %d was started %d times, want %d", attempt, got, want)
		}
	}
	b.ForgetJob("another")
	b.start(6, "n2")
	b.ForgetJob("lr")
	b.start(3, "n3")
	b.is(ended + ", 6 n2 0 waits, 3 n3 0 waits")
	b.Forget()
	b.start(3, "n3")
	if got := b.Starts("lr", 3); got != 2 {
		t.Errorf("a manager that was installed anew has started it %d times in all", got)
	}
}

// A Stop ends what is up to its attempt, on its server, of its job, and keeps the first end of each.
func TestStop(t *testing.T) {
	b := newBench(t)
	b.desk.Begin("lr", 1)
	b.start(1, "n1", "n2")
	b.step(0)
	b.desk.Begin("lr", 2)
	b.start(2, "n1")
	b.step(0)
	fenced, asked := guard.End{Code: -1, Signal: "killed", Why: guard.Fenced}.String(), guard.End{Code: -1, Signal: "terminated", Why: guard.Asked}.String()
	b.is("1 n1 0 " + fenced + ", 1 n2 1 " + fenced + ", 2 n1 0 runs")
	for _, wrong := range []struct {
		job     string
		attempt int64
		server  string
	}{{"lr", 1, "n1"}, {"lr", 9, "n2"}, {"another", 9, "n1"}} {
		b.stop(wrong.job, wrong.attempt, wrong.server)
		b.is("1 n1 0 " + fenced + ", 1 n2 1 " + fenced + ", 2 n1 0 runs")
	}
	b.stop("lr", 2, "n1")
	b.is("1 n1 0 " + fenced + ", 1 n2 1 " + fenced + ", 2 n1 0 " + asked)
}

// A server that is down starts and ends nothing, while guards there go on to claim; what was asked for meanwhile is lost.
func TestDown(t *testing.T) {
	b := newBench(t)
	b.desk.Begin("lr", 1)
	b.start(1, "n1", "n2")
	b.step(0)
	b.SetDown("n1", true)
	b.stop("lr", 1, "n1")
	b.stop("lr", 1, "n2")
	asked := guard.End{Code: -1, Signal: "terminated", Why: guard.Asked}.String()
	b.is("1 n1 0 runs, 1 n2 1 " + asked)
	b.step(length / 2)
	b.step(length) // half of a lease beyond the first one, which was renewed
	b.is("1 n1 0 runs, 1 n2 1 " + asked)
	b.start(2, "n1", "n2")
	b.SetDown("n1", false)
	b.is("1 n1 0 runs, 1 n2 1 " + asked + ", 2 n2 1 waits")
}

// A lease that is over ends a trainer before its guard claims once more; one that lasts to this very moment does not.
func TestLeaseIsOver(t *testing.T) {
	b := newBench(t)
	b.desk.Begin("lr", 1)
	b.start(1, "n1", "n2")
	b.step(0)
	b.Each("lr", func(c *Container) { c.Deaf = c.Server == "n2" })
	b.step(length)
	b.is("1 n1 0 runs, 1 n2 1 runs")
	b.step(time.Nanosecond)
	over := guard.End{Code: -1, Signal: "killed", Why: guard.LeaseOver}.String()
	b.is("1 n1 0 runs, 1 n2 1 " + over)
	// Nobody hears that it has ended, and the other one is not late.
	if seen, _ := b.desk.Seen(guard.ID{Job: "lr", Attempt: 1, Server: "n2", Rank: 1}); seen.Claim.State.Ended != nil {
		t.Errorf("%+v", seen)
	}
	b.Each("lr", func(c *Container) { c.Deaf = false })
	b.step(0)
	seen, _ := b.desk.Seen(guard.ID{Job: "lr", Attempt: 1, Server: "n2", Rank: 1})
	if seen.Claim.State.Ended == nil || seen.Claim.State.Ended.Why != guard.LeaseOver {
		t.Errorf("%+v", seen)
	}
	// A guard that slept beyond its lease ends its trainer although it would be granted another one.
	b.step(length + 1)
	b.is("1 n1 0 " + over + ", 1 n2 1 " + over)
}

// A save is written once, by the number that was asked for, and by nobody who is mute. A folder that is gone is the test's error.
func TestSave(t *testing.T) {
	b := newBench(t)
	b.desk.Begin("lr", 1)
	dir := b.start(1, "n1", "n2")
	b.step(0)
	first, second := guard.ID{Job: "lr", Attempt: 1, Server: "n1"}, guard.ID{Job: "lr", Attempt: 1, Server: "n2", Rank: 1}
	b.Each("lr", func(c *Container) { c.Mute = c.Rank == 1 })
	for want := int64(1); want <= 2; want++ {
		if asked := b.desk.AskSave(first); asked != want || b.desk.AskSave(second) != want {
			t.Fatalf("save %d was asked for, want %d", asked, want)
		}
		b.step(0)
		b.step(0) // the acknowledgement goes out with the next claim
		seen, _ := b.desk.Seen(first)
		ack := seen.Claim.State.Checkpoint
		if ack == nil || ack.Request != want || ack.Step == nil || *ack.Step != want || len(ack.Files) != 1 {
			t.Fatalf("%+v", ack)
		}
		if text, err := os.ReadFile(filepath.Join(dir, ack.Files[0])); err != nil || len(text) == 0 {
			t.Errorf("%q, %v", text, err)
		}
		// It is asked for with every grant, and written once.
		must.Do(t, os.Remove(filepath.Join(dir, ack.Files[0])))
		b.step(0)
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%v, %v", entries, err)
		}
	}
	if seen, _ := b.desk.Seen(second); seen.Claim.State.Checkpoint != nil {
		t.Errorf("a mute trainer has saved: %+v", seen.Claim.State.Checkpoint)
	}
	must.Do(t, os.Remove(dir))
	b.desk.AskSave(first)
	if err := b.Step(); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := b.Step(); err != nil {
		t.Errorf("the save counts as asked for, and fails once: %v", err)
	}
}

// What was said is told of every run while it is said, and of one that found no room for ever.
func TestTrouble(t *testing.T) {
	b := newBench(t)
	trouble := func(attempt int64, want string) {
		t.Helper()
		if got, _, err := b.Trouble(t.Context(), "lr", attempt, managed.Part{Server: "n1", Count: 1}); err != nil || got != want {
			t.Errorf("attempt %d: %q, %v, want %q", attempt, got, err, want)
		}
	}
	b.desk.Begin("lr", 2)
	trouble(1, "")
	b.Say("no room", true, false)
	b.start(1, "n1")
	b.Say("no such program", false, true)
	trouble(1, "no such program")
	b.start(2, "n1", "n1")
	b.step(0)
	b.is("2 n1 0 runs, 2 n1 1 waits")
	b.Say("", false, false)
	trouble(1, "no room")
	trouble(2, "")
	if b.Starts("lr", 1) != 1 {
		t.Error("what found no room was not asked for")
	}
}

// A trainer ends once: well, with its work done, or otherwise, which says how.
func TestEnd(t *testing.T) {
	for _, c := range []struct {
		ends   []guard.End
		done   bool
		failed string
	}{
		{[]guard.End{{}}, true, ""},
		{[]guard.End{{}, {Code: 3}}, true, ""},
		{[]guard.End{{Code: 3}, {}}, false, guard.End{Code: 3}.String()},
		{[]guard.End{{Code: -1, Signal: "killed"}}, false, guard.End{Code: -1, Signal: "killed"}.String()},
	} {
		one := &Container{}
		one.State.Started, one.State.Progress.Running = true, true
		for _, e := range c.ends {
			one.End(e)
		}
		want := runner.Progress{Done: c.done, Failed: c.failed}
		if diff := cmp.Diff(want, one.State.Progress); diff != "" || one.Alive() || *one.State.Ended != c.ends[0] {
			t.Errorf("%v: alive %t, ended %v, (-want +got)\n%s", c.ends, one.Alive(), one.State.Ended, diff)
		}
	}
}

// Run steps until its context ends. A cluster without a clock of its own uses that of the machine.
func TestRun(t *testing.T) {
	b := newBench(t)
	b.Cluster = New(func() *guard.Desk { return b.desk }, nil)
	b.desk.Begin("lr", 1)
	b.start(1, "n1")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Cluster.Run(ctx, time.Nanosecond) }()
	for limit := time.Now().Add(time.Minute); b.stands() != "1 n1 0 runs"; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Error("nobody steps")
			break
		}
	}
	stop()
	must.Do(t, <-ended)
}
