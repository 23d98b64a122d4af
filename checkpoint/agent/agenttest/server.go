// This file implements Server: an agent in memory, whose processes are counters.

package agenttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
)

// stepPart is the name of the part of a checkpoint that holds the number of its step.
//
// The step is all the state that a counter has.
const stepPart = "step"

// Server is an agent in memory. It implements driver.Agent, and is safe for concurrent use.
type Server struct {
	// ID is the server's; Store keeps the checkpoints. Both are required.
	ID    string
	Store store.Store
	// Meet is called with every order before it is looked at, and may hang or fail; nil: nothing
	// happens on the way. Its error is that of Do: the order has not arrived.
	Meet func(context.Context, agent.Order) error
	// Lease is how long jobs run on without a master, by the clock Now; 0: for ever.
	Lease time.Duration
	// Now must not go back. It is called with the server's lock held, so it must not call the server.
	Now func() time.Duration

	// mu is held for the whole of an order, so that orders to one server pass one at a time. A store
	// that hangs holds up the server with it.
	mu    sync.Mutex
	epoch int64
	// witness is remembered as the epoch is.
	witness checkpoint.Witness
	// floor is the highest attempt of a job that was forgotten.
	floor int64
	heard agent.Lease
	jobs  map[string]*hosted
	// memories and lives count what the incarnation names.
	memories, lives int
	// broken is for the tests of the suite; the zero value keeps all promises.
	broken flaw
}

// hosted is what a server has of a job: what it must remember of it, as every agent must, and the state of the
// processes that stand in for real ones. running is the attempt whose processes live, 0: none does.
//
// Marks are what a restart keeps; all else is the state of the world around the agent, which goes on
// without it.
type hosted struct {
	agent.Marks
	containers int
	running    int64
	progress   runner.Progress
	starts     map[int64]int
}

// Do implements driver.Agent. The order is that of every agent: decide, remember, and only then act.
func (s *Server) Do(ctx context.Context, order agent.Order) (checkpoint.Reply, error) {
	// Meet is called without the lock: an order that hangs on the way holds up nobody else.
	if s.Meet != nil {
		if err := s.Meet(ctx, order); err != nil {
			return checkpoint.Reply{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := order.Effect
	// A lease that has run out on the way counts as over before the order arrives, as it does with real processes.
	s.lapse()
	if order.Book != "" && order.Book != s.incarnation().Book && s.broken != obeysAny {
		return checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Failed, Detail: "it is for another agent", Step: -1}, nil
	}
	h := s.host(e.Job)
	// 1. Decide.
	before := agent.Fence{Epoch: s.epoch, Witness: s.witness, Marks: h.Marks}
	after, verdict := s.broken.admit(before, e)
	// 2. Remember. The memory of a Server is durable by itself.
	s.epoch, s.witness, h.Marks = after.Epoch, after.Witness, after.Marks
	reply := checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done, Step: -1}
	switch verdict.Ruling {
	case agent.Refused:
		reply.Outcome, reply.Detail = checkpoint.Fenced, verdict.Reason.Text
		if s.broken == actsRefused {
			h.containers = 0
		}
		return reply, nil
	case agent.Impossible:
		reply.Outcome, reply.Detail = checkpoint.Failed, verdict.Reason.Text
		return reply, nil
	}
	// A master that was refused has not come here, and renews nothing.
	s.renew(order.Heard)
	if verdict.Ruling == agent.Repeated {
		return reply, nil
	}
	var err error
	// 3. Act. What goes wrong is an outcome and no error, which would mean that nobody knows how it
	// went.
	if reply.Step, err = s.perform(ctx, h, order); err != nil {
		reply.Outcome, reply.Detail = checkpoint.Failed, err.Error()
		if e.Action == checkpoint.Resume && (errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt)) {
			reply.Outcome = checkpoint.Damaged
		} else if errors.Is(err, errUnread) {
			reply.Outcome = checkpoint.Unreadable
		}
	}
	return reply, nil
}

// perform does an effect that was admitted; s.mu is held. It returns the step of a checkpoint, or -1. Each effect says what shall
// be, so doing it twice comes to the same.
func (s *Server) perform(ctx context.Context, h *hosted, order agent.Order) (int64, error) {
	e := order.Effect
	switch e.Action {
	case checkpoint.Create:
		h.containers = s.on(e.Containers)
	case checkpoint.Release:
		// Never more than before: a Release creates nothing.
		h.containers = min(h.containers, s.on(e.Containers))
		if s.broken == releasesAll {
			h.containers = 0
		}
	case checkpoint.Stop:
		// Containers stay: a Stop ends processes, and the next attempt may keep what it finds.
		// running is 0 where nothing runs, which every attempt ends without any effect.
		if s.ends(h.running, e.Attempt) {
			h.running = 0
		}
	case checkpoint.Resume:
		return -1, s.resume(ctx, h, e)
	case checkpoint.Save:
		return s.save(ctx, h, order)
	case checkpoint.Verify:
		return -1, s.verify(ctx, order)
	case checkpoint.Confirm:
		if h.running != e.Attempt {
			return -1, fmt.Errorf("attempt %d of job %q does not run", e.Attempt, e.Job)
		}
	default:
		return -1, fmt.Errorf("effect %q is not for servers", e.Action)
	}
	return -1, nil
}

// ends reports whether a Stop of an attempt ends the one that runs.
func (s *Server) ends(running, attempt int64) bool {
	switch s.broken {
	case stopsAll:
		return true
	case stopsOwn:
		return running == attempt
	}
	// Earlier attempts end with it, for the master has given all of them up.
	return running <= attempt
}

// on counts the containers of a list that are on this server. A list names the server of each container, in the order of ranks.
func (s *Server) on(containers []string) (n int) {
	for _, server := range containers {
		if server == s.ID {
			n++
		}
	}
	return n
}

// resume starts the processes of an attempt, at the step of the checkpoint or at the beginning. A checkpoint that
// cannot be read starts nothing: to begin anew would lose the job's work.
func (s *Server) resume(ctx context.Context, h *hosted, e checkpoint.Effect) error {
	step := int64(0)
	if e.Checkpoint > 0 {
		err := s.expect(ctx, e)
		if err != nil {
			return err
		}
		if step, err = readStep(ctx, s.Store, e.Job, e.Checkpoint); err != nil && s.broken != beginsAnew {
			return fmt.Errorf("%w: %w", errUnread, err)
		}
	}
	// The mark is set where the processes begin to live, so that a Resume that has failed can be done
	// again.
	h.Resumed, h.running = e.Attempt, e.Attempt
	h.progress = runner.Progress{Step: step, Running: true}
	h.starts[e.Attempt]++
	return nil
}

func (s *Server) verify(ctx context.Context, order agent.Order) error {
	if s.broken == verifiesNothing {
		return nil
	}
	if err := s.expect(ctx, order.Effect); err != nil {
		return err
	}
	_, err := store.VerifyShare(ctx, s.Store, order.Effect.Job, order.Effect.Checkpoint, order.Share)
	return err
}

// expect returns an error unless the server's store is the one of an effect. An effect that names none takes any.
func (s *Server) expect(ctx context.Context, e checkpoint.Effect) error {
	if s.broken == anyStore || s.broken == savesAnywhere && e.Action == checkpoint.Save {
		return nil
	}
	return store.Expect(ctx, s.Store, store.Identity(e.Store))
}

// errUnread: a checkpoint cannot be read.
var errUnread = errors.New("agenttest: the checkpoint cannot be read")

// readStep returns the step of a checkpoint. Where servers have saved a share each, all of them hold the same.
func readStep(ctx context.Context, store store.Store, job string, number int64) (int64, error) {
	r, err := store.Open(ctx, job, number)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	step := int64(-1)
	for _, p := range r.Manifest().Parts {
		found, err := readPart(r, p.Name)
		if err != nil {
			return 0, err
		}
		if step >= 0 && found != step {
			return 0, fmt.Errorf("%s holds step %d, and another one step %d", p.Name, found, step)
		}
		step = found
	}
	if step < 0 {
		return 0, errors.New("the checkpoint holds no step")
	}
	return step, nil
}

// readPart reads the step in one part: a decimal number and nothing else.
func readPart(r store.Reader, name string) (int64, error) {
	part, err := r.Part(name)
	if err != nil {
		return 0, err
	}
	defer part.Close()
	text, err := io.ReadAll(part)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(text), 10, 64)
}

// save commits the step of an attempt that runs: as the state of the whole job or, where a share is asked for, as this
// server's. What was committed under the number before stays, and its step is what the server tells then.
func (s *Server) save(ctx context.Context, h *hosted, order agent.Order) (int64, error) {
	e := order.Effect
	if h.running != e.Attempt {
		return -1, fmt.Errorf("attempt %d of job %q does not run", e.Attempt, e.Job)
	}
	if s.broken == savesNothing {
		return h.progress.Step, nil
	}
	if err := s.expect(ctx, e); err != nil {
		return -1, err
	}
	// A share has a part of its own name, so that those of all servers fit into one checkpoint.
	name, begin := stepPart, func() (store.Writer, error) { return s.Store.Begin(ctx, e.Job, e.Checkpoint) }
	if order.Share != (store.Share{}) {
		sharded, ok := s.Store.(store.Sharded)
		if !ok {
			return -1, fmt.Errorf("a share: %w", errors.ErrUnsupported)
		}
		name += "-" + s.ID
		begin = func() (store.Writer, error) { return sharded.BeginShard(ctx, e.Job, e.Checkpoint, order.Share) }
	}
	err := commitStep(begin, name, h.progress.Step)
	if errors.Is(err, store.ErrExists) && name == stepPart { // committed by the same order before, with fewer steps
		return readStep(ctx, s.Store, e.Job, e.Checkpoint)
	}
	return h.progress.Step, err
}

// commitStep commits one part, which holds a step.
func commitStep(begin func() (store.Writer, error), name string, step int64) error {
	w, err := begin()
	if err != nil {
		return err
	}
	// After a Commit an Abort does nothing.
	defer w.Abort()
	part, err := w.Part(name)
	if err != nil {
		return err
	}
	_, err = io.WriteString(part, strconv.FormatInt(step, 10))
	// Both errors count: some stores tell only at Close that a write has failed.
	if err := errors.Join(err, part.Close()); err != nil {
		return err
	}
	_, err = w.Commit()
	return err
}

func (s *Server) host(job string) *hosted {
	// The zero Server is ready for use, so the maps are made when they are needed.
	if s.jobs == nil {
		s.jobs = map[string]*hosted{}
	}
	if s.jobs[job] == nil {
		s.jobs[job] = &hosted{Marks: agent.Marks{Lapsed: s.floor}, starts: map[int64]int{}}
	}
	return s.jobs[job]
}

// incarnation is who the server is. s.mu is held.
func (s *Server) incarnation() agent.Incarnation {
	return agent.Incarnation{Book: fmt.Sprintf("%s %d", s.ID, s.memories), Life: fmt.Sprintf("%s %d", s.ID, s.lives)}
}

// clock is the server's stamp. The ID stands for the boot: two servers have nothing to compare.
func (s *Server) clock() agent.Stamp {
	// Without a clock there is no lease, and the zero stamp is never newer than itself.
	if s.Now == nil {
		return agent.Stamp{}
	}
	return agent.Stamp{Boot: s.ID, At: s.Now()}
}

func (s *Server) renew(echo agent.Stamp) {
	// Lease is a field that tests may change while the server runs.
	s.heard.Length = s.Lease
	if s.broken == renewsAlways {
		echo = s.clock()
	}
	s.heard = s.heard.Renew(echo, s.clock())
}

// lapse ends all jobs if the lease is over. It is called before anything is looked at, as if it had happened at the
// moment when the lease ended.
func (s *Server) lapse() {
	if s.Lease == 0 || s.heard.Left(s.clock()) > 0 || s.broken == ignoresLease {
		return
	}
	for _, h := range s.jobs {
		if h.running != 0 {
			// Created and not running: an attempt that is created and not yet resumed must not begin
			// after this.
			h.Lapsed, h.running, h.containers = h.Created, 0, 0
		}
	}
}

// Status implements driver.Agent.
// A master that was replaced gets nothing but the error: what runs here is for its successor to judge.
func (s *Server) Status(_ context.Context, q agent.Question) (agent.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.Epoch < s.epoch && s.broken != answersAnyone {
		return agent.Status{}, fmt.Errorf("master %d asks, and master %d has taken over: %w", q.Epoch, s.epoch, checkpoint.ErrFenced)
	}
	s.lapse()
	if q.Book == "" || q.Book == s.incarnation().Book {
		s.renew(q.Heard)
	}
	// Only what is over, and is the newest that is known here, is forgotten: a later attempt may be on its way. The floor keeps
	// what was forgotten from being begun again by an order that comes late.
	for _, e := range q.Forget {
		if h := s.jobs[e.Job]; h != nil && e.Attempt == max(h.Created, h.Resumed, h.Stopped, h.Lapsed) && h.running == 0 {
			s.floor = max(s.floor, e.Attempt)
			delete(s.jobs, e.Job)
		}
	}
	status := agent.Status{Clock: s.clock(), Incarnation: s.incarnation(), Witness: s.witness}
	for _, job := range slices.Sorted(maps.Keys(s.jobs)) {
		h := s.jobs[job]
		if newest := max(h.Created, h.Resumed, h.Stopped, h.Lapsed); h.Created > 0 && newest == max(h.Stopped, h.Lapsed) {
			status.Ended = append(status.Ended, agent.Ended{Job: job, Attempt: newest})
		}
		// An attempt that has ended by itself is told of until it is stopped: its progress says how it
		// went.
		if attempt := h.Resumed; attempt > max(h.Stopped, h.Lapsed) || attempt > 0 && s.broken == tellsStopped {
			status.Jobs = append(status.Jobs, agent.JobStatus{Job: job, Attempt: attempt, Progress: h.progress})
		}
	}
	return status, nil
}
