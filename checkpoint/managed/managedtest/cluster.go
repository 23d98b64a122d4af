// This file implements a cluster manager in memory: its containers have guards that claim at the desk, and trainers that
// save.

package managedtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/checkpoint/wire"
)

// Container is a container with its guard and its trainer. A test that changes one does it inside of Each, under the cluster's
// lock.
type Container struct {
	// Claim is what the guard says of its run next; State in it is how the trainer stands.
	guard.Claim
	// Deaf says that nobody hears its claims.
	Deaf bool
	// Mute says that its trainer answers no save.
	Mute bool
	// Until is when its lease is over.
	Until time.Time

	// Fault is why it could not begin; nil: it could, or has not tried.
	Fault error

	// The trainer's own: no test has to know them. task is what it was started with, saved the newest save that it has acknowledged, and
	// step the one that it began from.
	task        managed.Task
	saved, step int64
}

// Alive reports whether the trainer runs: it was granted a lease once, and nothing has ended it since.
func (c *Container) Alive() bool { return c.State.Started && c.State.Ended == nil }

// End ends the trainer. One that has ended before keeps its first end, as a process has one exit status. The zero End is work
// that is done; any other counts as failed, with its text as the reason. It is called inside of Each.
func (c *Container) End(e guard.End) {
	if c.State.Ended != nil {
		return
	}
	c.State.Ended, c.State.Progress.Running = &e, false
	// Done and Failed are what a real guard makes of an exit status.
	if c.State.Progress.Done = e == (guard.End{}); !c.State.Progress.Done {
		c.State.Progress.Failed = e.String()
	}
}

// Cluster is a cluster manager in memory. Guards claim once in a round, when Step is called. It implements
// managed.Manager and is safe for concurrent use.
type Cluster struct {
	// desk is asked for at every step, since tests replace the master, and its desk with it.
	desk func() *guard.Desk
	now  func() time.Time

	mu         sync.Mutex
	containers []*Container      // all that ever were, also those that have ended
	asked      map[string]int64  // by job, the highest attempt that was asked for or stopped
	starts     map[string]int    // by run, how often it was started: more than once is a fault of the caller
	refused    map[string]string // by run: why none of its containers will ever start
	down       map[string]bool   // by server: the manager reaches nothing there
	full, late bool              // see Say
	trouble    string            // what Trouble answers for every run
	user       *command.User     // whom containers run as
	userless   error             // why User refuses
}

var _ managed.Manager = (*Cluster)(nil)

// New returns a cluster whose guards claim at the desk of the day; now is its clock, nil: time.Now. It must be the clock of that
// desk as well, or leases are longer here than there. desk is called with the cluster's lock held, and must not call the cluster.
func New(desk func() *guard.Desk, now func() time.Time) *Cluster {
	if now == nil {
		now = time.Now
	}
	return &Cluster{desk: desk, now: now, asked: map[string]int64{}, starts: map[string]int{}, refused: map[string]string{}, down: map[string]bool{}}
}

// Shared is a new folder, until the test ends, that every user may pass; those of package testing are closed to others.
func Shared(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "managed-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func runOf(job string, attempt int64) string { return fmt.Sprint(job, "/", attempt) }

// SetDown says whether the manager's agent on a server is gone: nothing is started or ended there by the manager, and
// guards and trainers live on.
func (c *Cluster) SetDown(server string, down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down[server] = down
}

// Say says what Trouble answers, whether containers are taken and never started, and whether those but the first of each
// run have guards that never claim. It counts for runs that are started from now on, but for the trouble, which every run
// has until Say says otherwise.
func (c *Cluster) Say(trouble string, full, late bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trouble, c.full, c.late = trouble, full, late
}

// SetUser says whom the containers of all jobs run as, or why nobody can tell.
func (c *Cluster) SetUser(u *command.User, refusal error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.user, c.userless = u, refusal
}

// User implements managed.Manager.
func (c *Cluster) User(json.RawMessage) (*command.User, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.user, c.userless
}

// Forget forgets what was asked for, as a manager that was installed anew: an attempt that was stopped may be started then.
// What runs goes on.
func (c *Cluster) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.asked)
}

// ForgetJob forgets what was asked for of a job, so that another one may have its name.
func (c *Cluster) ForgetJob(job string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked, job)
}

// Start implements managed.Manager. It starts all of a run at once, whichever server asks first. The trainers run from the first
// Step on in which their guards are granted a lease.
func (c *Cluster) Start(_ context.Context, task managed.Task) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Every server of a run asks; the first one counts. So does a Stop that has overtaken its Start.
	if task.Attempt <= c.asked[task.Job] {
		return nil
	}
	c.asked[task.Job] = task.Attempt
	c.starts[runOf(task.Job, task.Attempt)]++
	// A manager without room takes a task all the same, as real ones do, and says later why nothing has come of it.
	if c.full {
		c.refused[runOf(task.Job, task.Attempt)] = c.trouble
		return nil
	}
	for _, part := range task.Servers() {
		// What is asked for on a server that is down is lost: this manager does not make up for it when it is back.
		for rank := part.First; rank < part.First+part.Count && !c.down[part.Server]; rank++ {
			id := guard.ID{Job: task.Job, Attempt: task.Attempt, Server: part.Server, Rank: rank}
			c.containers = append(c.containers, &Container{task: task, Deaf: c.late && rank > 0,
				Claim: guard.Claim{ID: id, Epoch: task.Epoch, Life: fmt.Sprint(len(c.containers)), Clock: agent.Stamp{Boot: "b", At: time.Second}}})
		}
	}
	return nil
}

// Stop implements managed.Manager. It never waits: trainers of this manager end at once, as if by SIGTERM, but for those on a
// server that is down, of which it says nothing.
func (c *Cluster) Stop(_ context.Context, job string, attempt int64, server string) (left bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// A Start that this Stop has overtaken comes to nothing.
	c.asked[job] = max(c.asked[job], attempt)
	for _, one := range c.containers {
		if one.Job == job && one.Attempt <= attempt && one.Server == server && !c.down[server] {
			one.End(guard.End{Code: -1, Signal: "terminated", Why: guard.Asked})
		}
	}
	return false, nil
}

// Trouble implements managed.Manager. What was never started is not started later, whatever is said by then.
func (c *Cluster) Trouble(_ context.Context, job string, attempt int64, _ managed.Part) (why string, refused bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	noRoom := c.refused[runOf(job, attempt)]
	return cmp.Or(c.trouble, noRoom), noRoom != "", nil
}

// Run calls Step again and again until the context ends, which is no error, or a Step fails.
func (c *Cluster) Run(ctx context.Context, pause time.Duration) error {
	for {
		if err := c.Step(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// Step has every guard claim once, in the order in which they were started, and do what follows from the answer. The error is
// that of a checkpoint that could not be written, and the guards behind that one have not claimed. O(containers that ever were).
func (c *Cluster) Step() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.containers {
		// A lease that is over kills before anything is claimed, as a guard that wakes up late does.
		if one.Alive() && c.now().After(one.Until) {
			one.End(guard.End{Code: -1, Signal: "killed", Why: guard.LeaseOver})
		}
		if one.Deaf {
			continue
		}
		grant, err := c.desk().Answer(one.Claim)
		switch {
		// A claim without an answer leaves the lease as it is. One that has ended claims on, so that its end is known.
		case err != nil || one.State.Ended != nil:
		case grant.Fenced != "":
			one.End(guard.End{Code: -1, Signal: "killed", Why: guard.Fenced})
		default:
			// The lease counts from the answer and not from the claim, which is the later of the two: a desk whose slack is
			// too small for that is found by it.
			one.Until = c.now().Add(grant.Length)
			one.begin()
			if err := one.save(grant.Save); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin starts the trainer with the first grant: it reads the checkpoint that it begins from and what its guard signs with, as its own
// user, and dies if it may not.
func (c *Container) begin() {
	if c.State.Started {
		return
	}
	c.State.Started, c.State.Progress.Running = true, true
	c.Fault = errors.Join(as(c.task.User, c.restore), as(c.task.User, c.sign))
	if c.State.Progress.Step = c.step; c.Fault != nil {
		c.End(guard.End{Code: 1})
	}
}

// restore reads what was saved, whose name has the step.
func (c *Container) restore() error {
	if c.task.Restore == "" {
		return nil
	}
	entries, err := os.ReadDir(c.task.Restore)
	for _, entry := range entries {
		_, more := os.ReadFile(filepath.Join(c.task.Restore, entry.Name()))
		step, wrong := strconv.ParseInt(strings.TrimPrefix(entry.Name(), prefix), 10, 64)
		err, c.step = errors.Join(err, more, wrong), max(c.step, step)
	}
	return err
}

// sign reads the credential, which is that of its own run.
func (c *Container) sign() error {
	if c.task.Credential == "" {
		return nil
	}
	text, err := os.ReadFile(c.task.Credential)
	if err != nil {
		return err
	}
	credential, err := wire.ReadCredential(text)
	if err == nil && credential.Party != guard.Party(c.Job, c.Attempt) {
		err = fmt.Errorf("managedtest: attempt %d of job %q signs as %v", c.Attempt, c.Job, credential.Party)
	}
	return err
}

// prefix comes before the step in the name of the file of a checkpoint.
const prefix = "state-"

// save writes a checkpoint, if that is asked for, and acknowledges it: one file, as the trainer's own user, whose name has the step: as
// many more than it began from as saves were asked for.
// A save is asked for with every grant until a higher one is, and written once.
func (c *Container) save(number int64) error {
	if number <= c.saved || c.Mute {
		return nil
	}
	c.saved = number
	step := c.step + number
	name := prefix + strconv.FormatInt(step, 10)
	c.State.Progress.Step = max(c.State.Progress.Step, step)
	c.State.Checkpoint = &command.Acknowledgement{Request: number, Step: &step, Files: []string{name}}
	return as(c.task.User, func() error { return os.WriteFile(filepath.Join(c.task.Dir, name), []byte("learnt"), 0o600) })
}

// Live returns the attempts of a job that live on a server, ascending, each once.
func (c *Cluster) Live(job, server string) []int64 {
	var list []int64
	c.Each(job, func(one *Container) {
		if one.Server == server && one.Alive() {
			list = append(list, one.Attempt)
		}
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// Starts returns how often a run was started. More than once is a fault of whoever asks: the second would begin from a checkpoint
// that is not the newest any more.
func (c *Cluster) Starts(job string, attempt int64) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.starts[runOf(job, attempt)]
}

// Each calls do with the containers of a job, in the order in which they were started; "": of all. do may change them, and must
// not call the cluster, whose lock is held.
func (c *Cluster) Each(job string, do func(*Container)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.containers {
		if job == "" || one.Job == job {
			do(one)
		}
	}
}
