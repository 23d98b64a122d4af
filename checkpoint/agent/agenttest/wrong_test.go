// This file tests steps of checks that no flaw of a Server reaches: agents that are wrong in one way alone.

package agenttest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
)

// wrong is a Server that does some effects otherwise, and tells otherwise how it stands. It belongs to one goroutine, as the suite
// asks an agent for one thing at a time.
type wrong struct {
	*Server
	// do does an effect in place of the Server, whose own way is right; nil: always right.
	do func(w *wrong, o agent.Order, right func() checkpoint.Reply) checkpoint.Reply
	// tell changes what the Server tells of itself; nil: nothing.
	tell func(w *wrong, s *agent.Status)
	// kept is for an agent that remembers something of its own.
	kept agent.Status
}

func (w *wrong) Do(ctx context.Context, o agent.Order) (checkpoint.Reply, error) {
	var err error
	right := func() (r checkpoint.Reply) { r, err = w.Server.Do(ctx, o); return r }
	if w.do == nil {
		r := right()
		return r, err
	}
	r := w.do(w, o, right)
	return r, err
}

func (w *wrong) Status(ctx context.Context, q agent.Question) (agent.Status, error) {
	s, err := w.Server.Status(ctx, q)
	if err == nil && w.tell != nil {
		w.tell(w, &s)
	}
	return s, err
}

func (w *wrong) its() *hosted { return w.host(job) }

// done is the reply of an agent that says that it has done something.
func done(e checkpoint.Effect) checkpoint.Reply {
	return checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done, Step: -1}
}

// says is an agent that says of some effects that they are done, and does nothing.
func says(which func(w *wrong, e checkpoint.Effect) bool) func(*wrong, agent.Order, func() checkpoint.Reply) checkpoint.Reply {
	return func(w *wrong, o agent.Order, right func() checkpoint.Reply) checkpoint.Reply {
		if which(w, o.Effect) {
			return done(o.Effect)
		}
		return right()
	}
}

// after is an agent that does everything right, and something else behind some effects.
func after(action checkpoint.Action, and func(w *wrong, e checkpoint.Effect, r checkpoint.Reply)) func(*wrong, agent.Order, func() checkpoint.Reply) checkpoint.Reply {
	return func(w *wrong, o agent.Order, right func() checkpoint.Reply) checkpoint.Reply {
		r := right()
		if o.Effect.Action == action {
			and(w, o.Effect, r)
		}
		return r
	}
}

// counts counts a start of an attempt whose effect has failed: its processes have ended at once.
func counts(w *wrong, e checkpoint.Effect, r checkpoint.Reply) {
	if r.Outcome != checkpoint.Done {
		w.its().starts[e.Attempt]++
	}
}

// obeys is an agent that does what is for another of its name, where that is so.
func obeys(which func(e checkpoint.Effect) bool) func(*wrong, agent.Order, func() checkpoint.Reply) checkpoint.Reply {
	return func(w *wrong, o agent.Order, right func() checkpoint.Reply) checkpoint.Reply {
		if o.Book != "" && which(o.Effect) {
			w.broken = obeysAny
		}
		defer func() { w.broken = keepsAll }()
		return right()
	}
}

// only reports whether an effect is of this kind.
func only(action checkpoint.Action) func(*wrong, checkpoint.Effect) bool {
	return func(_ *wrong, e checkpoint.Effect) bool { return e.Action == action }
}

// wrongAgents are those that the suite must see, by what they do.
var wrongAgents = map[string]struct {
	// check is the one that sees it, and text what it says.
	check, text string
	do          func(*wrong, agent.Order, func() checkpoint.Reply) checkpoint.Reply
	tell        func(*wrong, *agent.Status)
	// restart is what else happens then; nil: nothing.
	restart func(*wrong)
}{
	"it resumes any attempt of a job that it knows": {check: "ResumeNeedsCreate", text: "resume of attempt 4 under master 1: done",
		do: says(func(w *wrong, e checkpoint.Effect) bool { return e.Action == checkpoint.Resume && w.its().Created == 3 })},
	"it starts for a moment what it says it cannot": {check: "ResumeNeedsCreate", text: "processes of attempt 4 were started 1 times, want 0", do: after(checkpoint.Resume, counts)},
	"it forgets what was created":                   {check: "MemorySurvives", text: "create of attempt 2 under master 1: done", restart: func(w *wrong) { w.its().Marks = agent.Marks{} }},
	"it forgets what was stopped":                   {check: "MemorySurvives", text: "create of attempt 3 under master 1: done", restart: func(w *wrong) { w.its().Stopped = 0 }},
	"it forgets who its master is":                  {check: "MemorySurvives", text: "create of attempt 5 under master 5: done", restart: func(w *wrong) { w.epoch = 0 }},
	"it has saved what it has lost":                 {check: "LostMemory", text: "save of attempt 3 under master 1: done", do: says(only(checkpoint.Save))},
	"it resumes what its lease has ended": {check: "LeaseEnds", text: "resume of attempt 2 under master 1: done",
		do: says(func(w *wrong, e checkpoint.Effect) bool { return e.Action == checkpoint.Resume && w.its().Lapsed > 0 })},
	"it has saved what its lease has ended": {check: "LeaseEnds", text: "save of attempt 2 under master 1: done", do: says(only(checkpoint.Save))},
	"it stops what another journal says and calls that a failure": {check: "WitnessOfJournal", text: "stop of attempt 3 is on record elsewhere, and was done",
		do: after(checkpoint.Stop, func(w *wrong, _ checkpoint.Effect, r checkpoint.Reply) {
			if r.Outcome == checkpoint.Failed {
				w.its().running = 0
			}
		})},
	"it remembers its journal and does not go by it": {check: "WitnessOfJournal", text: "stop of attempt 3 under master 1: done", restart: func(w *wrong) { w.witness = checkpoint.Witness{} },
		tell: func(w *wrong, s *agent.Status) {
			if s.Witness.Journal == "" {
				s.Witness = w.kept.Witness
			}
			w.kept = *s
		}},
	"it stays with a journal that another has come in the place of": {check: "WitnessOfJournal", text: "create of attempt 30 under master 20: failed",
		do: func(w *wrong, o agent.Order, right func() checkpoint.Reply) checkpoint.Reply {
			if len(o.Effect.Former) > 0 {
				return checkpoint.Reply{ID: o.Effect.ID, Job: o.Effect.Job, Outcome: checkpoint.Failed}
			}
			return right()
		}},
	"it goes over to a journal and does not say so": {check: "WitnessOfJournal", text: "{Journal:records Number:300}, want {Journal:restored Number:3000}",
		tell: func(_ *wrong, s *agent.Status) {
			if s.Witness.Journal == "restored" {
				s.Witness = checkpoint.Witness{Journal: "records", Number: 300}
			}
		}},
	"it stops for another of its name": {check: "OrdersForAnother", text: "stop of attempt 2 under master 1: done", do: obeys(func(e checkpoint.Effect) bool { return e.Action == checkpoint.Stop })},
	"it does not say who it is":        {check: "OrdersForAnother", text: "does not say who it is", tell: func(_ *wrong, s *agent.Status) { s.Incarnation = agent.Incarnation{} }},
	"it does another's and calls that a failure": {check: "OrdersForAnother", text: "stop of attempt 2 was for another agent, and was done", do: func(w *wrong, o agent.Order, right func() checkpoint.Reply) checkpoint.Reply {
		r := right()
		if o.Book != "" && o.Effect.Action == checkpoint.Stop && r.Outcome == checkpoint.Failed {
			w.its().running = 0
		}
		return r
	}},
	"it begins from any store": {check: "StoreThatIsNamed", text: "resume of attempt 3 under master 1: done", do: func(w *wrong, o agent.Order, right func() checkpoint.Reply) checkpoint.Reply {
		if o.Effect.Action == checkpoint.Resume {
			w.broken = anyStore
		}
		defer func() { w.broken = keepsAll }()
		return right()
	}},
	"it has verified what is not there": {check: "Verify", text: "verify of attempt 2 under master 1: done",
		do: says(func(_ *wrong, e checkpoint.Effect) bool { return e.Action == checkpoint.Verify && e.Checkpoint == 77 })},
}

// Each agent that is wrong in one way is seen, at the step that is about that, in words that say what was seen and what was wanted.
func TestWrongAgents(t *testing.T) {
	for name, c := range wrongAgents {
		t.Run(name, func(t *testing.T) {
			s := subject(keepsAll)
			w := &wrong{Server: s.Agent.(*Server), do: c.do, tell: c.tell}
			s.Agent = w
			s.Restart = func() error {
				w.Restart()
				if c.restart != nil {
					c.restart(w)
				}
				return nil
			}
			at := slices.IndexFunc(checks, func(k check) bool { return k.name == c.check })
			if at < 0 {
				t.Fatalf("there is no check %s", c.check)
			}
			if err := checks[at].try(t.Context(), s); err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s says %v, want %q", c.check, err, c.text)
			}
		})
	}
}
