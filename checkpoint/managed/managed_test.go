// This file holds the agents of a fleet to their promises, and tests what is special about them: the leases of guards, and
// servers that are down.

package managed_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/agent/agenttest"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/checkpoint/managed/managedtest"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/internal/must"
)

const (
	lease  = 10 * time.Second
	slack  = 2 * time.Second
	window = 3 * time.Second
)

// bench is a fleet, its cluster, and guards that claim all the time.
type bench struct {
	*testing.T
	*managedtest.Cluster
	clock  *clock
	config managed.Config
	fleet  *managed.Fleet

	mu    sync.Mutex
	agent *managed.Agent
	down  bool
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, clock: &clock{now: time.Unix(1000, 0)}}
	b.Cluster = managedtest.New(func() *guard.Desk { return b.desk() }, b.clock.time)
	b.config = managed.Config{Manager: b.Cluster, Store: &storetest.MemStore{}, Dir: managedtest.Shared(t), Shared: managedtest.Shared(t), Epoch: 1, Secret: wire.NewSecret(),
		Lease: lease, Slack: slack, Window: window, Clock: b.clock.time, Poll: time.Millisecond}
	b.begin()
	ctx, stop := context.WithCancel(context.Background())
	var under sync.WaitGroup
	under.Go(func() {
		if err := b.Cluster.Run(ctx, time.Millisecond); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); under.Wait() })
	return b
}

func (b *bench) begin() {
	b.Helper()
	var jobs []checkpoint.Job
	known := map[string]bool{}
	b.Cluster.Each("", func(c *managedtest.Container) {
		if c.Alive() && !known[c.Job] {
			known[c.Job] = true
			jobs = append(jobs, checkpoint.Job{Name: c.Job, Attempt: c.Attempt, Phase: checkpoint.Running})
		}
	})
	fleet := must.Have(managed.NewFleet(b.config, jobs))(b)
	a := must.Have(fleet.Agent("here", func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.down {
			return errDown
		}
		return nil
	}))(b)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fleet, b.agent = fleet, a
}

func (b *bench) desk() *guard.Desk {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fleet.Desk()
}

// now returns the agent of today, for the suite keeps one for all its orders. It is asked how it stands before each, as
// a driver does ten times a second, for nobody is vouched for on a server that is not reached.
func (b *bench) now() *managed.Agent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.agent
}

// current is the agent of today.
type current struct{ *bench }

func (c current) Do(ctx context.Context, o agent.Order) (checkpoint.Reply, error) {
	c.fleet.Desk().Reached("here")
	return c.now().Do(ctx, o)
}

func (c current) Status(ctx context.Context, q agent.Question) (agent.Status, error) {
	return c.now().Status(ctx, q)
}

// The suite holds for jobs of this program's user, and for those of an ordinary one.
func TestSuite(t *testing.T) { suite(t, nil) }

func suite(t *testing.T, user *command.User) {
	agenttest.Run(t, func(t *testing.T) *agenttest.Subject {
		b := newBench(t)
		b.SetUser(user, nil)
		return &agenttest.Subject{
			Agent: current{b}, Server: "here", Store: b.config.Store, Spec: []byte(`{}`), Patience: 5 * time.Second,
			Alive:  func(job string) []int64 { return b.Live(job, "here") },
			Starts: b.Cluster.Starts,
			Kill: func(job string) {
				b.Each(job, func(c *managedtest.Container) { c.End(guard.End{Code: -1, Signal: "killed"}) })
			},
			Restart: func() error { b.begin(); return nil },
			Forget: func() error {
				b.Each("", func(c *managedtest.Container) { c.End(guard.End{Code: -1, Signal: "killed"}) })
				err := os.RemoveAll(b.config.Dir)
				b.Cluster.Forget()
				b.begin()
				return err
			},
		}
	})
}

// take returns a reply, or says what has never come.
func (b *bench) take(what string, from <-chan checkpoint.Reply) (r checkpoint.Reply) {
	b.Helper()
	select {
	case r = <-from:
	case <-time.After(time.Minute):
		b.Fatalf("never: %s", what)
	}
	return r
}

func (b *bench) do(action checkpoint.Action, attempt int64, more func(*checkpoint.Effect)) checkpoint.Reply {
	b.Helper()
	e := checkpoint.Effect{ID: 1, Epoch: 1, Job: "lr", Action: action, Attempt: attempt, Containers: []string{"here", "here", "there"}, Servers: []string{"here"}}
	if more != nil {
		more(&e)
	}
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Second)
	defer cancel()
	reply := must.Have(b.now().Do(ctx, agent.Order{Effect: e}))(b)
	return reply
}

// done gives the agent effects that must be done.
func (b *bench) done(attempt int64, actions ...checkpoint.Action) {
	b.Helper()
	for _, action := range actions {
		if reply := b.do(action, attempt, nil); reply.Outcome != checkpoint.Done {
			b.Fatalf("%s of attempt %d: %+v", action, attempt, reply)
		}
	}
}

// reach asks for the status, as a driver does.
func (b *bench) reach() (agent.Status, error) {
	return b.now().Status(b.Context(), agent.Question{Epoch: 1})
}

// lives waits until the attempts that live on both servers are these.
func (b *bench) lives(here, there int) {
	b.Helper()
	b.eventually("the containers are those that should live", func() bool {
		return len(b.Live("lr", "here")) == here && len(b.Live("lr", "there")) == there
	})
}

func (b *bench) eventually(what string, is func() bool) {
	b.Helper()
	for limit := time.Now().Add(10 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			b.Fatalf("never: %s", what)
		}
	}
}

// claimed waits until the guards on these servers have a grant of this moment, but for those that nobody hears.
func (b *bench) claimed(servers ...string) {
	b.Helper()
	until := b.clock.time().Add(lease)
	b.eventually("the guards have claimed", func() bool {
		claimed := true
		b.Each("lr", func(c *managedtest.Container) {
			claimed = claimed && (c.Deaf || !slices.Contains(servers, c.Server) || c.Until.Equal(until))
		})
		return claimed
	})
}

var errDown = errors.New("it is down")

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (b *bench) start() {
	b.Helper()
	b.fleet.Desk().Reached("there")
	must.Have(b.reach())(b)
	b.done(1, checkpoint.Create, checkpoint.Resume, checkpoint.Confirm)
	b.lives(1, 1)
}

// A server whose manager's agent was killed has jobs that run on. They are not taken for ended before their leases are
// over, and get no new ones, although their guards reach the desk.
func TestDownIsNotDead(t *testing.T) {
	b := newBench(t)
	b.start()
	b.mu.Lock()
	b.down = true
	b.mu.Unlock()
	b.SetDown("here", true)
	must.Fail(b.reach())(t, errDown, "a server that is down")
	b.clock.move(window) // the guards get their last grants
	b.claimed("here")
	over := func() bool {
		return b.fleet.Desk().AllOver(guard.ID{Job: "lr", Attempt: 1, Server: "here"}, []int{0, 1})
	}
	for range 4 {
		b.clock.move(lease / 4)
		time.Sleep(10 * time.Millisecond)
		if live := len(b.Live("lr", "here")); live == 0 || over() {
			t.Fatalf("%d attempts live, taken for over: %v", live, over())
		}
	}
	b.Each("lr", func(c *managedtest.Container) { c.Deaf = true }) // and cannot tell of the end
	if b.clock.move(time.Second); len(b.Live("lr", "here")) > 0 {
		b.eventually("the lease ends it", func() bool { return len(b.Live("lr", "here")) == 0 })
	}
	if over() {
		t.Error("the slack is not over")
	}
	b.clock.move(slack)
	if !over() {
		t.Error("it is over a lease and the slack after its last grant")
	}
	must.Equal(t, b.fleet.Grace(), window+lease+slack, "a grace of")
}

// A Stop is done when the guards have said so, or their leases are over: not when the manager says so.
func TestStopWaitsForGuards(t *testing.T) {
	b := newBench(t)
	b.start()
	b.SetDown("here", true) // the manager does nothing
	b.Each("lr", func(c *managedtest.Container) { c.Deaf = c.Rank == 1 })
	stopped := make(chan checkpoint.Reply, 1)
	go func() { stopped <- b.do(checkpoint.Stop, 1, nil) }()
	// The guard that hears of it ends its trainer, the other one when its lease is over.
	b.eventually("the first has ended", func() bool {
		ended := false
		b.Each("lr", func(c *managedtest.Container) { ended = ended || c.Rank == 0 && !c.Alive() })
		return ended
	})
	select {
	case reply := <-stopped:
		t.Fatalf("it was stopped while a container lives: %+v", reply)
	case <-time.After(30 * time.Millisecond):
	}
	b.clock.move(lease + time.Second)
	b.eventually("the lease ends the other", func() bool { return len(b.Live("lr", "here")) == 0 })
	b.clock.move(slack)
	if reply := b.take("the reply to the stop", stopped); reply.Outcome != checkpoint.Done {
		t.Errorf("%+v", reply)
	}
}

// A master that was started anew finds the runs of the one before, and vouches for them; what the other was stopping it does
// not vouch for.
func TestNextMaster(t *testing.T) {
	b := newBench(t)
	b.start()
	b.config.Epoch = 2
	b.begin()
	b.fleet.Desk().Reached("there")
	for range 20 {
		b.clock.move(lease / 2)
		must.Have(b.reach())(t)
		b.fleet.Desk().Reached("there")
		b.claimed("here", "there")
	}
	b.lives(1, 1)
	status, err := b.reach()
	if err != nil || len(status.Jobs) != 1 || !status.Jobs[0].Progress.Running {
		t.Errorf("%+v, %v", status, err)
	}
	b.config.Epoch = 3
	fleet := must.Have(managed.NewFleet(b.config, []checkpoint.Job{{Name: "lr", Attempt: 1, Phase: checkpoint.Stopping}}))(t)
	fleet.Desk().Reached("here")
	claim := guard.Claim{ID: guard.ID{Job: "lr", Attempt: 1, Server: "here"}, Epoch: 2, Life: "x"}
	if grant, err := fleet.Desk().Answer(claim); err != nil || grant.Fenced == "" {
		t.Errorf("%+v, %v", grant, err)
	}
}

// The next master lets guards go on that have started their trainers, and no other start a run of which all has been seen running: what a
// manager starts of it then, as after a reboot, would begin from an old checkpoint, beside the others.
func TestLateContainerAtTheNextMaster(t *testing.T) {
	for phase, want := range map[checkpoint.Phase][2]bool{ // whether a new guard may go on, and one that has started its trainer
		checkpoint.Creating: {true, true}, checkpoint.Resuming: {true, true}, checkpoint.Confirming: {true, true},
		checkpoint.Running: {false, true}, checkpoint.Saving: {false, true}, checkpoint.Verifying: {false, true},
		checkpoint.Stopping: {false, false}, checkpoint.Idle: {false, false}, checkpoint.Ended: {false, false},
	} {
		b := newBench(t)
		j := checkpoint.Job{Name: "lr", Attempt: 1, Phase: phase}
		if phase == checkpoint.Idle || phase == checkpoint.Ended {
			j.Stopped = 1
		}
		fleet := must.Have(managed.NewFleet(b.config, []checkpoint.Job{j}))(t)
		fleet.Desk().Reached("here")
		for i, started := range []bool{false, true} {
			c := guard.Claim{ID: guard.ID{Job: "lr", Attempt: 1, Server: "here", Rank: i}, Epoch: 1, Life: "x", State: guard.State{Started: started}}
			grant, err := fleet.Desk().Answer(c)
			must.Equal(t, err == nil && grant.Fenced == "", want[i], phase, "the trainer started", started, grant, err)
		}
	}
}

// Containers that have ended while no master was there, and cannot tell, are known to have failed a lease after the next one
// began.
func TestEndedWithoutMaster(t *testing.T) {
	b := newBench(t)
	b.start()
	b.Each("lr", func(c *managedtest.Container) { c.Deaf = true })
	b.config.Epoch = 2
	b.begin()
	failed := func() bool {
		status := must.Have(b.reach())(t)
		return len(status.Jobs) == 1 && strings.Contains(status.Jobs[0].Progress.Failed, "nothing was heard")
	}
	b.clock.move(lease)
	if failed() {
		t.Error("another master may have vouched for it a moment before this one began")
	}
	b.clock.move(slack + time.Second)
	if !failed() {
		t.Error("nobody tells that it has failed")
	}
}

// What the manager knows of containers that never start is told, and what guards say comes first.
func TestTrouble(t *testing.T) {
	b := newBench(t)
	b.Say("no room on the server", true, false)
	must.Have(b.reach())(t)
	b.done(1, checkpoint.Create, checkpoint.Resume)
	if reply := b.do(checkpoint.Confirm, 1, nil); reply.Outcome != checkpoint.Failed || !strings.Contains(reply.Detail, "no room on the server") {
		t.Errorf("%+v", reply)
	}
	if status, err := b.reach(); err != nil || len(status.Jobs) != 1 || !status.Jobs[0].Progress.Refused {
		t.Errorf("what found no room: %+v, %v", status, err)
	}
	b.done(1, checkpoint.Stop) // nothing was granted, so nothing lives
	b.Say("", false, false)
	b.done(2, checkpoint.Create, checkpoint.Resume, checkpoint.Confirm)
	b.Say("the manager complains", false, false)
	b.Each("lr", func(c *managedtest.Container) {
		if c.Attempt == 2 && c.Rank == 1 {
			c.End(guard.End{Code: 3})
		}
	})
	b.eventually("the guard's word is told", func() bool {
		status, err := b.reach()
		return err == nil && len(status.Jobs) == 1 && status.Jobs[0].Progress.Failed == "rank 1: exit status 3" && !status.Jobs[0].Progress.Done && !status.Jobs[0].Progress.Refused
	})
}

// A run of which a container has yet to start does not run.
func TestHalfStarted(t *testing.T) {
	b := newBench(t)
	must.Have(b.reach())(t)
	b.done(1, checkpoint.Create)
	b.Say("", false, true)
	b.done(1, checkpoint.Resume)
	b.eventually("the first runs", func() bool { return len(b.Live("lr", "here")) == 1 })
	status, err := b.reach()
	if err != nil || len(status.Jobs) != 1 || status.Jobs[0].Progress.Running {
		t.Errorf("%+v, %v", status, err)
	}
}

// opened counts how often checkpoints are opened.
type opened struct {
	store.Store
	times int
}

func (o *opened) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	o.times++
	return o.Store.Open(ctx, job, number)
}

// The servers of a run share what was fetched: it is fetched once.
func TestFetchedOnce(t *testing.T) {
	b := newBench(t)
	b.start()
	if r := b.do(checkpoint.Save, 1, func(e *checkpoint.Effect) { e.Checkpoint = 9 }); r.Outcome != checkpoint.Done {
		t.Fatalf("%+v", r)
	}
	b.done(1, checkpoint.Stop)
	counted := &opened{Store: b.config.Store}
	b.config.Store = counted
	b.begin()
	must.Have(b.reach())(t)
	b.fleet.Desk().Reached("there")
	other := must.Have(b.fleet.Agent("there", func() error { return nil }))(t)
	for _, action := range []checkpoint.Action{checkpoint.Create, checkpoint.Resume} {
		restores := func(e *checkpoint.Effect) { e.Checkpoint = 9 }
		here := b.do(action, 2, restores)
		e := checkpoint.Effect{ID: 1, Epoch: 1, Job: "lr", Action: action, Attempt: 2, Containers: []string{"here", "here", "there"}, Servers: []string{"there"}, Checkpoint: 9}
		if there := must.Have(other.Do(t.Context(), agent.Order{Effect: e}))(t); here.Outcome != checkpoint.Done || there.Outcome != checkpoint.Done {
			t.Fatalf("%s: %+v, %+v", action, here, there)
		}
	}
	must.Equal(t, counted.times, 1, "times the checkpoint was opened")
}

// A run is done when all of its containers are.
func TestHalfDone(t *testing.T) {
	b := newBench(t)
	b.start()
	b.Each("lr", func(c *managedtest.Container) {
		if c.Rank == 1 {
			c.End(guard.End{})
		}
	})
	b.eventually("the end is known", func() bool {
		seen, _ := b.desk().Seen(guard.ID{Job: "lr", Attempt: 1, Server: "here", Rank: 1})
		return seen.Claim.State.Progress.Done
	})
	if status, err := b.reach(); err != nil || len(status.Jobs) != 1 || status.Jobs[0].Progress.Done {
		t.Errorf("%+v, %v", status, err)
	}
}

// A container of which nothing is heard for a lease has failed, although its server is up.
func TestSilentContainer(t *testing.T) {
	b := newBench(t)
	b.start()
	b.Each("lr", func(c *managedtest.Container) { c.Deaf = c.Rank == 1 })
	for range 5 {
		b.clock.move(window)
		must.Have(b.reach())(t)
		b.claimed("here")
	}
	status, err := b.reach()
	if err != nil || len(status.Jobs) != 1 || !strings.Contains(status.Jobs[0].Progress.Failed, "rank 1: nothing was heard") {
		t.Errorf("%+v, %v", status, err)
	}
}

// An acknowledgement without files is no checkpoint, and a trainer that ends instead of saving is told of.
func TestSaveFails(t *testing.T) {
	b := newBench(t)
	b.start()
	b.Each("lr", func(c *managedtest.Container) {
		c.Mute = true // it answers nothing
		c.State.Checkpoint = &command.Acknowledgement{Request: 9}
	})
	save := func() <-chan checkpoint.Reply {
		replies := make(chan checkpoint.Reply, 1)
		go func() { replies <- b.do(checkpoint.Save, 1, func(e *checkpoint.Effect) { e.Checkpoint = 9 }) }()
		return replies
	}
	if reply := b.take("the reply to a save without files", save()); reply.Outcome != checkpoint.Failed || !strings.Contains(reply.Detail, "without files") {
		t.Errorf("%+v", reply)
	}
	b.Each("lr", func(c *managedtest.Container) { // what it has said before is no answer
		c.State.Checkpoint = &command.Acknowledgement{Files: []string{"state-1"}}
	})
	saving := save()
	time.Sleep(20 * time.Millisecond)
	b.Each("lr", func(c *managedtest.Container) {
		c.End(guard.End{Code: 1})
	})
	if reply := b.take("the reply to the save", saving); reply.Outcome != checkpoint.Failed || !strings.Contains(reply.Detail, "exit status 1") {
		t.Errorf("%+v", reply)
	}
	must.Have(os.Stat(filepath.Join(b.config.Shared, "runs", "lr", "1")))(t)
}

func TestConfigFaults(t *testing.T) {
	_, err := managed.NewFleet(managed.Config{Shared: "here", Lease: -1}, nil)
	var faults apportion.Faults
	if !errors.As(err, &faults) {
		t.Fatal(err)
	}
	fields := map[string]bool{}
	for _, f := range faults {
		fields[f.Field] = true
	}
	for _, want := range []string{"Manager", "Store", "Dir", "Shared", "Secret", "Epoch", "Lease", "Slack", "Window"} {
		if !fields[want] {
			t.Errorf("no fault of %s: %v", want, err)
		}
	}
}

func TestTaskParts(t *testing.T) {
	task := managed.Task{Run: runner.Run{Job: "lr", Attempt: 3, Dir: "/out", Containers: []string{"a", "a", "b"}}, Epoch: 4}
	parts := task.Servers()
	if len(parts) != 2 || parts[0] != (managed.Part{Server: "a", Count: 2}) || parts[1] != (managed.Part{Server: "b", First: 2, Count: 1}) {
		t.Errorf("%+v", parts)
	}
	env := task.Environment("b")
	for name, want := range map[string]string{"APPORTION_JOB": "lr", "APPORTION_ATTEMPT": "3", "APPORTION_EPOCH": "4", "APPORTION_SERVER": "b",
		"APPORTION_CONTAINERS": "3", "APPORTION_SERVERS": "a,a,b", "APPORTION_CHECKPOINT_DIR": "/out"} {
		must.Equal(t, env[name], want, name)
	}
	if _, there := env["APPORTION_RESTORE_DIR"]; there {
		t.Error("a run that begins anew has nothing to restore")
	}
	if _, there := env[guard.EnvCA]; there {
		t.Error("without TLS there are no authorities")
	}
	if task.Authorities = "/ca"; task.Environment("a")[guard.EnvCA] != "/ca" {
		t.Error("by what the server is believed is not told")
	}
	if task.Restore = "/in"; task.Environment("a")["APPORTION_RESTORE_DIR"] != "/in" {
		t.Error("where to restore from is not told")
	}
}

// holder is a cluster that is told to hold the room of a run, and says what lives then.
type holder struct {
	*managedtest.Cluster
	held chan int
}

func (h *holder) Hold(_ context.Context, job string, _ int64) {
	h.held <- len(h.Live(job, "here")) + len(h.Live(job, "there"))
}

// Room is held before anything of the run is ended.
func TestHeldBeforeTheEnd(t *testing.T) {
	b := newBench(t)
	h := &holder{b.Cluster, make(chan int, 1)}
	b.config.Manager = h
	b.begin()
	b.start()
	b.done(1, checkpoint.Stop)
	select {
	case live := <-h.held:
		must.Equal(t, live, 2, "containers live when their room is held")
	default:
		t.Error("a run was ended, and nobody was told to hold its room")
	}
}
