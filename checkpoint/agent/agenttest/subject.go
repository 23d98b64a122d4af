// This file declares what the suite needs of an agent under test, and how its checks speak to one.

package agenttest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/store"
)

// Subject is an agent under test and a view of what it has done. The functions that may be nil are those
// that not every agent can be made to do.
//
// All of them are called by one goroutine, one after the other, and Alive every millisecond while the suite
// waits for an end.
type Subject struct {
	// Agent is what the suite speaks to.
	Agent Agent
	// Server is the ID of the agent's server.
	Server string
	// Store is the agent's store for checkpoints.
	Store store.Store
	// Spec says what the suite's jobs run: processes that run until they are stopped, and that save
	// when they are asked.
	//
	// The suite hands it on as it is and never looks into it.
	Spec []byte
	// Alive returns the attempts of a job whose processes live on the server, ascending.
	// It must look at the processes themselves, by their IDs or by what they hold, and not ask the
	// agent: the suite compares the two.
	Alive func(job string) []int64
	// Starts returns how often processes of an attempt were started; nil: it is not known.
	// Together with Alive it tells a process that has lived on from one that died and was started
	// again.
	Starts func(job string, attempt int64) int
	// Containers returns how many containers a job has on the server; nil: it is not known.
	Containers func(job string) int
	// Kill ends the processes of a job by accident; nil: they cannot be killed.
	// The agent must not know of it beforehand, as nobody does of an accident.
	Kill func(job string)
	// Restart kills the agent and starts it again, with its memory and its processes; nil: it cannot be
	// restarted.
	// The kill must be a hard one, without any chance for the agent to write anything down.
	Restart func() error
	// Forget kills the agent and all processes and starts it again without its memory; nil: it cannot.
	// This is what ServerFenced promises: no process and no container of before is left.
	Forget func() error
	// Elapse lets a part of the length of the agent's lease pass; nil: the agent has no lease.
	// It moves the agent's clock, or waits in fact where that cannot be moved. It returns at once;
	// what ends because of it ends within Patience.
	Elapse func(part float64)
	// Patience is how long an agent may take to end jobs after its lease is over; 0: 10 s.
	Patience time.Duration

	// It changes in greet alone, so that a check decides when the lease is renewed.
	heard agent.Stamp // what is handed back with every order
	book  string      // the memory that orders are for; empty: any
}

// greet asks the agent for its clock, so that orders can renew its lease.
func (s *Subject) greet(ctx context.Context) error {
	// Epoch 1 is that of the first master: no check begins with a lower one.
	status, err := s.Agent.Status(ctx, agent.Question{Epoch: 1})
	s.heard = status.Clock
	return err
}

// Agent is what a master speaks to; driver.Agent is the same.
//
// The interface is written again and not imported, because package driver uses this package in its
// tests.
type Agent interface {
	// Do carries out one order. The outcome in the reply says how that went; an error, that no reply has
	// come, which the suite takes for a fault.
	Do(context.Context, agent.Order) (checkpoint.Reply, error)
	// Status says what the agent has, and its clock. The error wraps checkpoint.ErrFenced for a master that
	// was replaced.
	Status(context.Context, agent.Question) (agent.Status, error)
}

// check is one promise.
//
// A check says what is wrong as an error and does not know of testing.T: so the tests of the suite can
// see it fail without failing themselves.
type check struct {
	name string
	// needs are the names of the fields of a Subject that must not be nil for this check.
	needs []string
	run   func(context.Context, *Subject) error
}

func (c *check) try(ctx context.Context, s *Subject) error {
	// An agent that has never heard of a master lets no job run, so each check begins with a greeting.
	if err := s.greet(ctx); err != nil {
		return err
	}
	return c.run(ctx, s)
}

// missing returns what the check needs and the subject does not have; "": nothing.
func (c *check) missing(s *Subject) string {
	// A need that is spelled wrong is in no map, and counts as missing: TestMissing would see that.
	have := map[string]bool{"Starts": s.Starts != nil, "Containers": s.Containers != nil, "Kill": s.Kill != nil,
		"Restart": s.Restart != nil, "Forget": s.Forget != nil, "Elapse": s.Elapse != nil}
	at := slices.IndexFunc(c.needs, func(need string) bool { return !have[need] })
	if at < 0 {
		return ""
	}
	return c.needs[at]
}

// defaultPatience is what a Patience of 0 means: long for a test and short for processes that are asked to end before they
// are killed.
const defaultPatience = 10 * time.Second

// job is the name of the suite's job, and other that of a second one.
const job, other = "suite", "other"

// records is the name of the journal that the effects of the checks are on record in.
const records = "records"

// do gives the agent an effect of the job, with two containers on its server unless the effect says which.
func (s *Subject) do(ctx context.Context, e checkpoint.Effect) (checkpoint.Reply, error) {
	e.Job = cmp.Or(e.Job, job)
	// Epochs begin at 1, so 0 is free to stand for the first master.
	e.Epoch = cmp.Or(e.Epoch, 1)
	if e.Containers == nil {
		e.Containers = []string{s.Server, s.Server}
	}
	e.Journal = cmp.Or(e.Journal, records)
	// The number tells attempt and checkpoint apart, so that a reply to the wrong effect is noticed.
	// Effects of one attempt that are the same have the same number, as those have that a master sends
	// again.
	e.ID, e.Servers = e.Attempt*100+e.Checkpoint, []string{s.Server}
	reply, err := s.Agent.Do(ctx, agent.Order{Effect: e, Spec: s.Spec, Heard: s.heard, Book: s.book})
	// A master takes the reply for the effect that it names; a wrong number would end another job's
	// phase.
	if err == nil && (reply.ID != e.ID || reply.Job != e.Job) {
		return reply, fmt.Errorf("the reply to effect %d of job %q is one to effect %d of job %q", e.ID, e.Job, reply.ID, reply.Job)
	}
	return reply, err
}

// expect gives the agent an effect and returns an error unless the outcome is the expected one.
func (s *Subject) expect(ctx context.Context, want checkpoint.Outcome, e checkpoint.Effect) error {
	reply, err := s.do(ctx, e)
	if err != nil {
		return fmt.Errorf("%s of attempt %d: %w", e.Action, e.Attempt, err)
	}
	if reply.Outcome != want {
		return fmt.Errorf("%s of attempt %d under master %d: %s (%s), want %s", e.Action, e.Attempt, max(1, e.Epoch), reply.Outcome, reply.Detail, want)
	}
	return nil
}

// all gives the agent effects one after the other, which must all be done. It stops at the first that is not.
func (s *Subject) all(ctx context.Context, effects ...checkpoint.Effect) error {
	for _, e := range effects {
		if err := s.expect(ctx, checkpoint.Done, e); err != nil {
			return err
		}
	}
	return nil
}

// start brings an attempt up: created, resumed from the beginning, confirmed, and seen alive.
func (s *Subject) start(ctx context.Context, attempt int64) error {
	// The order is that of every adjustment. Confirm waits until the processes live, so that Alive can
	// be asked at once.
	if err := s.all(ctx, of(checkpoint.Create, attempt), of(checkpoint.Resume, attempt), of(checkpoint.Confirm, attempt)); err != nil {
		return err
	}
	return s.alive(attempt)
}

// of is an effect of an attempt.
//
// What it leaves out do fills in: the job, the first master, two containers on the agent's server, and
// the journal.
func of(action checkpoint.Action, attempt int64) checkpoint.Effect {
	return checkpoint.Effect{Action: action, Attempt: attempt}
}

// by is an effect under a master.
// Epoch 0, that of all other effects, stands for 1.
func by(epoch int64, e checkpoint.Effect) checkpoint.Effect {
	e.Epoch = epoch
	return e
}

func recorded(journal string, e checkpoint.Effect) checkpoint.Effect {
	e.Journal = journal
	return e
}

// numbered is a Save or a Resume of a checkpoint.
// Without a number it is checkpoint 0, from which a Resume begins anew.
func numbered(number int64, e checkpoint.Effect) checkpoint.Effect {
	e.Checkpoint = number
	return e
}

// refuses gives the agent an effect that it must refuse, without any change of what it has.
// What is refused and done all the same is worse than either, for the master goes on as if nothing had happened.
func (s *Subject) refuses(ctx context.Context, e checkpoint.Effect) error {
	before := s.look(e)
	if err := s.expect(ctx, checkpoint.Fenced, e); err != nil {
		return err
	}
	if after := s.look(e); after != before {
		return fmt.Errorf("%s of attempt %d was refused, and was done: %s before, %s after", e.Action, e.Attempt, before, after)
	}
	return nil
}

// look is what the server has of the suite's jobs, for comparison: a refusal must leave all of it as it is.
func (s *Subject) look(e checkpoint.Effect) string {
	// Both jobs are looked at: what is refused for one must not end the other.
	text := fmt.Sprintf("alive %v and %v", s.Alive(job), s.Alive(other))
	// What the Subject cannot tell is left out of both texts, and so never differs.
	if s.Starts != nil {
		text += fmt.Sprintf(", started %d times", s.Starts(job, e.Attempt))
	}
	if s.Containers != nil {
		text += fmt.Sprintf(", %d containers", s.Containers(job))
	}
	return text
}

// alive returns an error unless exactly these attempts of the job live.
func (s *Subject) alive(want ...int64) error {
	if got := s.Alive(job); !slices.Equal(got, want) {
		return fmt.Errorf("attempts %v of the job are alive, want %v", got, want)
	}
	return nil
}

// ends returns an error unless no attempt of the job is alive within the Patience.
func (s *Subject) ends() error {
	// The suite waits in real time even if the lease is one of a clock that the test moves: processes
	// end by the clock on the wall.
	limit := time.Now().Add(cmp.Or(s.Patience, defaultPatience))
	for {
		err := s.alive()
		// The state is looked at once more after the limit, so that a test machine that stood still is
		// not blamed.
		if err == nil || time.Now().After(limit) {
			return err
		}
		// 1 ms keeps the checks of an agent in memory fast, and asks real processes not too often.
		time.Sleep(time.Millisecond)
	}
}

// started returns an error unless an attempt was started so often, where that can be known.
func (s *Subject) started(attempt int64, want int) error {
	if s.Starts == nil {
		return nil
	}
	if got := s.Starts(job, attempt); got != want {
		return fmt.Errorf("processes of attempt %d were started %d times, want %d", attempt, got, want)
	}
	return nil
}

// first runs steps until one fails.
//
// Steps are functions, so that none is done, or even prepared, after one that has failed.
func first(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
