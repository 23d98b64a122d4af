// This file tests that each step of a check sees what it is there for: agents that are wrong in one way alone, and the words in
// which the suite tells that.

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
	// seen is for one that must remember something of its own.
	seen int
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

// its is what the Server has of the suite's job.
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

// starts lets an attempt live whose effect has failed.
func starts(w *wrong, e checkpoint.Effect, r checkpoint.Reply) {
	if r.Outcome != checkpoint.Done {
		w.its().running = e.Attempt
	}
}

// counts counts a start of an attempt whose effect has failed: its processes have ended at once.
func counts(w *wrong, e checkpoint.Effect, r checkpoint.Reply) {
	if r.Outcome != checkpoint.Done {
		w.its().starts[e.Attempt]++
	}
}

// outlives is an agent whose processes do not mind a Stop.
func outlives(w *wrong, o agent.Order, right func() checkpoint.Reply) checkpoint.Reply {
	before := w.its().running
	r := right()
	if o.Effect.Action == checkpoint.Stop && r.Outcome == checkpoint.Done {
		w.its().running = before
	}
	return r
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
	// restart and forget are what else happens then; nil: nothing.
	restart, forget func(*wrong)
}{
	"its processes outlive a Stop": {check: "Adjustment", text: "attempts [1] of the job are alive, want []", do: outlives},
	"it says that it has resumed from a checkpoint": {check: "Adjustment", text: "attempts [] of the job are alive, want [2]",
		do: says(func(_ *wrong, e checkpoint.Effect) bool {
			return e.Attempt == 2 && (e.Action == checkpoint.Resume || e.Action == checkpoint.Confirm)
		})},
	"it saves nothing for a later attempt": {check: "Adjustment", text: "its checkpoint cannot be opened", do: says(only(checkpoint.Save))},
	"it resumes a job of which it has never heard": {check: "ResumeNeedsCreate", text: "resume of attempt 2 under master 1: done",
		do: says(func(w *wrong, e checkpoint.Effect) bool { return e.Action == checkpoint.Resume && w.its().Created == 0 })},
	"it resumes any attempt of a job that it knows": {check: "ResumeNeedsCreate", text: "resume of attempt 4 under master 1: done",
		do: says(func(w *wrong, e checkpoint.Effect) bool { return e.Action == checkpoint.Resume && w.its().Created == 3 })},
	"it starts what it says it cannot": {check: "ResumeNeedsCreate", text: "attempts [4] of the job are alive, want []", do: after(checkpoint.Resume, func(w *wrong, e checkpoint.Effect, r checkpoint.Reply) {
		if e.Attempt == 4 {
			starts(w, e, r)
		}
	})},
	"it starts for a moment what it says it cannot": {check: "ResumeNeedsCreate", text: "processes of attempt 4 were started 1 times, want 0", do: after(checkpoint.Resume, counts)},
	"a second Resume starts a second set of processes": {check: "ResumeStartsOnce", text: "processes of attempt 2 were started 2 times, want 1",
		do: after(checkpoint.Resume, func(w *wrong, e checkpoint.Effect, _ checkpoint.Reply) {
			if w.seen++; w.seen == 2 {
				w.its().starts[e.Attempt]++
			}
		})},
	"a Resume revives what has died": {check: "ResumeStartsOnce", text: "attempts [2] of the job are alive, want []",
		do: after(checkpoint.Resume, func(w *wrong, e checkpoint.Effect, _ checkpoint.Reply) { w.its().running = e.Attempt })},
	"a Resume starts anew what has died, and that dies too": {check: "ResumeStartsOnce", text: "processes of attempt 2 were started 2 times, want 1",
		do: after(checkpoint.Resume, func(w *wrong, e checkpoint.Effect, _ checkpoint.Reply) {
			if w.its().running == 0 {
				w.its().starts[e.Attempt]++
			}
		})},
	"it begins anew and says that the checkpoint is damaged": {check: "UnreadableCheckpoint", text: "attempts [2] of the job are alive, want []", do: after(checkpoint.Resume, starts)},
	"it begins anew for a moment":                            {check: "UnreadableCheckpoint", text: "processes of attempt 2 were started 1 times, want 0", do: after(checkpoint.Resume, counts)},
	"it calls what is not there a failure of its own": {check: "UnreadableCheckpoint", text: "failed (", do: func(_ *wrong, _ agent.Order, right func() checkpoint.Reply) checkpoint.Reply {
		r := right()
		if r.Outcome == checkpoint.Damaged {
			r.Outcome = checkpoint.Failed
		}
		return r
	}},
	"it tells of a job that nobody has begun": {check: "StatusNamesTheNewestAttempt", text: "want attempts [] running", tell: func(_ *wrong, s *agent.Status) {
		s.Jobs = append(s.Jobs, agent.JobStatus{Job: job, Attempt: 1})
	}},
	"it tells of nothing before the first Stop": {check: "StatusNamesTheNewestAttempt", text: "want attempts [2] running", tell: func(w *wrong, s *agent.Status) {
		if w.its().Stopped == 0 {
			s.Jobs = nil
		}
	}},
	"it tells of nothing after a Stop": {check: "StatusNamesTheNewestAttempt", text: "want attempts [3] running", tell: func(w *wrong, s *agent.Status) {
		if w.its().Stopped > 0 {
			s.Jobs = nil
		}
	}},
	"it does not tell that processes run": {check: "StatusNamesTheNewestAttempt", text: "want attempts [2] running", tell: func(_ *wrong, s *agent.Status) {
		for i := range s.Jobs {
			s.Jobs[i].Progress.Running = false
		}
	}},
	"its processes die with it":   {check: "MemorySurvives", text: "attempts [] of the job are alive, want [3]", restart: func(w *wrong) { w.its().running = 0 }},
	"it forgets what was created": {check: "MemorySurvives", text: "create of attempt 2 under master 1: done", restart: func(w *wrong) { w.its().Marks = agent.Marks{} }},
	"it starts its processes anew with itself": {check: "MemorySurvives", text: "processes of attempt 3 were started 2 times, want 1",
		restart: func(w *wrong) { w.its().starts[3]++ }},
	"it forgets what was stopped":      {check: "MemorySurvives", text: "create of attempt 3 under master 1: done", restart: func(w *wrong) { w.its().Stopped = 0 }},
	"it forgets who its master is":     {check: "MemorySurvives", text: "create of attempt 5 under master 5: done", restart: func(w *wrong) { w.epoch = 0 }},
	"its memory gets another name":     {check: "MemorySurvives", text: `the memory was called "here 0" and is called "here 1"`, restart: func(w *wrong) { w.memories++ }},
	"it has saved what it has lost":    {check: "LostMemory", text: "save of attempt 3 under master 1: done", do: says(only(checkpoint.Save))},
	"its processes survive its memory": {check: "LostMemory", text: "attempts [3] of the job are alive, want []", forget: func(w *wrong) { w.its().running, w.Lease = 3, 0 }},
	"it resumes what its lease has ended": {check: "LeaseEnds", text: "resume of attempt 2 under master 1: done",
		do: says(func(w *wrong, e checkpoint.Effect) bool { return e.Action == checkpoint.Resume && w.its().Lapsed > 0 })},
	"it has saved what its lease has ended":         {check: "LeaseEnds", text: "save of attempt 2 under master 1: done", do: says(only(checkpoint.Save))},
	"it tells of a higher number than it has heard": {check: "WitnessOfJournal", text: "Number:301}, want", tell: func(_ *wrong, s *agent.Status) { s.Witness.Number++ }},
	"it takes the number of what comes late": {check: "WitnessOfJournal", text: "Number:200}, want",
		do: after(checkpoint.Stop, func(w *wrong, e checkpoint.Effect, _ checkpoint.Reply) { w.witness.Number = e.ID })},
	"it takes the name of another journal": {check: "WitnessOfJournal", text: "{Journal:elsewhere Number:300}, want", do: after(checkpoint.Create, func(w *wrong, e checkpoint.Effect, r checkpoint.Reply) {
		if r.Outcome != checkpoint.Done {
			w.witness.Journal = e.Journal
		}
	})},
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
	"its processes outlive the Stop of their own journal":  {check: "WitnessOfJournal", text: "attempts [3] of the job are alive, want []", do: outlives},
	"it stops for another of its name":                     {check: "OrdersForAnother", text: "stop of attempt 2 under master 1: done", do: obeys(func(e checkpoint.Effect) bool { return e.Action == checkpoint.Stop })},
	"it obeys another's master that is newer":              {check: "OrdersForAnother", text: "stop of attempt 2 under master 9: done", do: obeys(func(e checkpoint.Effect) bool { return e.Epoch == 9 })},
	"it creates for another of its name":                   {check: "OrdersForAnother", text: "create of attempt 3 under master 1: done", do: obeys(func(e checkpoint.Effect) bool { return e.Action == checkpoint.Create })},
	"its processes outlive a Stop that is for it":          {check: "OrdersForAnother", text: "attempts [2] of the job are alive, want []", do: outlives},
	"it does not say who it is":                            {check: "OrdersForAnother", text: "does not say who it is", tell: func(_ *wrong, s *agent.Status) { s.Incarnation = agent.Incarnation{} }},
	"it says which memory it has and not which process it": {check: "OrdersForAnother", text: "does not say who it is", tell: func(_ *wrong, s *agent.Status) { s.Incarnation.Life = "" }},
	"it does another's and calls that a failure": {check: "OrdersForAnother", text: "stop of attempt 2 was for another agent, and was done", do: func(w *wrong, o agent.Order, right func() checkpoint.Reply) checkpoint.Reply {
		r := right()
		if o.Book != "" && o.Effect.Action == checkpoint.Stop && r.Outcome == checkpoint.Failed {
			w.its().running = 0
		}
		return r
	}},
	"it minds the epoch of another's master": {check: "OrdersForAnother", text: "confirm of attempt 2 under master 1: fenced", do: func(w *wrong, o agent.Order, right func() checkpoint.Reply) checkpoint.Reply {
		r := right()
		w.epoch = max(w.epoch, o.Effect.Epoch)
		return r
	}},
	"it begins from any store": {check: "StoreThatIsNamed", text: "resume of attempt 3 under master 1: done", do: func(w *wrong, o agent.Order, right func() checkpoint.Reply) checkpoint.Reply {
		if o.Effect.Action == checkpoint.Resume {
			w.broken = anyStore
		}
		defer func() { w.broken = keepsAll }()
		return right()
	}},
	"it begins from another store and says that it cannot": {check: "StoreThatIsNamed", text: "attempts [3] of the job are alive, want []", do: after(checkpoint.Resume, starts)},
	"it says that it has begun from its store": {check: "StoreThatIsNamed", text: "attempts [] of the job are alive, want [3]",
		do: says(func(w *wrong, e checkpoint.Effect) bool {
			mine, _ := w.Store.Identity(context.Background())
			return e.Attempt == 3 && (e.Action == checkpoint.Resume && e.Store == string(mine) || e.Action == checkpoint.Confirm)
		})},
	"it has verified what is not there": {check: "Verify", text: "verify of attempt 2 under master 1: done",
		do: says(func(_ *wrong, e checkpoint.Effect) bool { return e.Action == checkpoint.Verify && e.Checkpoint == 77 })},
	"a Verify ends the job": {check: "Verify", text: "attempts [] of the job are alive, want [2]",
		do: after(checkpoint.Verify, func(w *wrong, _ checkpoint.Effect, _ checkpoint.Reply) { w.its().running = 0 })},
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
			s.Forget = func() error {
				w.Forget()
				if c.forget != nil {
					c.forget(w)
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

// A wrapper that changes nothing passes: what the tests above see is the flaw, and not the wrapper.
func TestRightAgent(t *testing.T) {
	Run(t, func(*testing.T) *Subject {
		s := subject(keepsAll)
		s.Agent = &wrong{Server: s.Agent.(*Server)}
		return s
	})
}
