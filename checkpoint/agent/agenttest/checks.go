// This file implements the checks: each promise of checkpoint.Effect, and the lease.

package agenttest

import (
	"context"
	"errors"
	"fmt"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
)

// checks are in the order of the promises in the documentation of checkpoint.Effect; the lease comes
// last.
var checks = []check{
	{"Adjustment", nil, adjustment},
	{"LowerEpoch", nil, lowerEpoch},
	{"EpochOfAllJobs", nil, epochOfAllJobs},
	{"QuestionOfLowerEpoch", nil, questionOfLowerEpoch},
	{"StoppedAttempt", nil, stoppedAttempt},
	{"AttemptBelowTheHighest", nil, attemptBelow},
	{"ReleaseBelowTheHighest", []string{"Containers"}, releaseBelow},
	{"StopEndsEarlierAttempts", nil, stopEarlier},
	{"StopSparesLaterAttempts", nil, stopLater},
	{"ResumeNeedsCreate", nil, resumeNeedsCreate},
	{"ResumeStartsOnce", []string{"Kill", "Starts"}, resumeOnce},
	{"EffectsCanBeRepeated", nil, repeated},
	{"ContainersAreWhatIsSaid", []string{"Containers"}, containers},
	{"UnreadableCheckpoint", nil, unreadable},
	{"StatusNamesTheNewestAttempt", nil, status},
	{"MemorySurvives", []string{"Restart"}, memory},
	{"LostMemory", []string{"Forget"}, lostMemory},
	{"OrdersForAnother", nil, forAnother},
	{"WitnessOfJournal", []string{"Restart"}, witness},
	{"Verify", nil, verify},
	{"StoreThatIsNamed", nil, namedStore},
	{"LeaseEnds", []string{"Elapse"}, leaseEnds},
	{"OldStampsRenewNothing", []string{"Elapse"}, oldStamps},
}

// adjustment is what every agent must be able to do: a job is saved, stopped and resumed.
func adjustment(ctx context.Context, s *Subject) error {
	if err := s.start(ctx, 1); err != nil {
		return err
	}
	// 1. Save: the number is the master's choice, and need not follow on any other.
	if err := s.all(ctx, numbered(9, of(checkpoint.Save, 1))); err != nil {
		return err
	}
	// 2. Verify: the master reads what it was told to be saved, so an agent that only says so is found
	// here.
	r, err := s.Store.Open(ctx, job, 9)
	if err != nil {
		return fmt.Errorf("the save is done, and its checkpoint cannot be opened: %w", err)
	}
	if err := r.Close(); err != nil {
		return err
	}
	// 3. The next attempt begins from that checkpoint, in containers of its own, and then it alone lives.
	return first(
		func() error { return s.all(ctx, of(checkpoint.Stop, 1)) },
		func() error { return s.alive() },
		func() error {
			return s.all(ctx, of(checkpoint.Release, 1), of(checkpoint.Create, 2), numbered(9, of(checkpoint.Resume, 2)), of(checkpoint.Confirm, 2))
		},
		func() error { return s.alive(2) },
	)
}

// lowerEpoch: an agent refuses a lower epoch than it has seen, whatever is asked.
func lowerEpoch(ctx context.Context, s *Subject) error {
	if err := s.start(ctx, 3); err != nil {
		return err
	}
	if err := s.all(ctx, by(5, of(checkpoint.Confirm, 3))); err != nil {
		return err
	}
	// Even a Stop is refused, for the attempt may be alive by the wish of the new master; and attempt
	// 4 is one that nobody has seen yet, so only its master is against it.
	for _, action := range []checkpoint.Action{checkpoint.Stop, checkpoint.Release, checkpoint.Create, checkpoint.Resume, checkpoint.Save, checkpoint.Confirm} {
		for _, attempt := range []int64{3, 4} {
			if err := s.refuses(ctx, by(4, numbered(8, of(action, attempt)))); err != nil {
				return err
			}
		}
	}
	// The job still runs, and its master is still obeyed.
	return s.all(ctx, by(5, of(checkpoint.Confirm, 3)))
}

// epochOfAllJobs: the highest epoch is one for all jobs.
func epochOfAllJobs(ctx context.Context, s *Subject) error {
	if err := s.all(ctx, by(5, of(checkpoint.Create, 3))); err != nil {
		return err
	}
	// The other job is new to the server: a fence for each job alone would let this pass.
	e := by(4, of(checkpoint.Create, 4))
	e.Job = other
	return s.refuses(ctx, e)
}

// questionOfLowerEpoch: a master that was replaced learns it when it asks.
func questionOfLowerEpoch(ctx context.Context, s *Subject) error {
	if err := s.all(ctx, by(5, of(checkpoint.Create, 3))); err != nil {
		return err
	}
	// A master that was cut off sends no effects while nothing changes. It hears of its end by its
	// questions only.
	if _, err := s.Agent.Status(ctx, agent.Question{Epoch: 4}); !errors.Is(err, checkpoint.ErrFenced) {
		return fmt.Errorf("a question under master 4 after an effect of master 5: %v, want ErrFenced", err)
	}
	_, err := s.Agent.Status(ctx, agent.Question{Epoch: 5})
	return err
}

// stoppedAttempt: nothing revives an attempt that was stopped, not even one that never began.
func stoppedAttempt(ctx context.Context, s *Subject) error {
	if err := s.start(ctx, 3); err != nil {
		return err
	}
	if err := s.all(ctx, of(checkpoint.Stop, 4)); err != nil {
		return err
	}
	// 2 was never here, 3 has run, and 4 was stopped before it was created: its Create may still be on
	// the way.
	for attempt := int64(2); attempt <= 4; attempt++ {
		for _, action := range []checkpoint.Action{checkpoint.Create, checkpoint.Resume, checkpoint.Save} {
			if err := s.refuses(ctx, numbered(8, of(action, attempt))); err != nil {
				return err
			}
		}
	}
	// Whatever was refused above has left nothing behind that is in the way of a right attempt.
	// The fence is not too high either: the next attempt runs.
	return s.start(ctx, 5)
}

// attemptBelow: what is late for an attempt does not touch the next one.
// A Stop is not among these: it is never refused for its attempt, see stopLater.
func attemptBelow(ctx context.Context, s *Subject) error {
	if err := s.start(ctx, 7); err != nil {
		return err
	}
	for _, action := range []checkpoint.Action{checkpoint.Create, checkpoint.Resume, checkpoint.Save} {
		if err := s.refuses(ctx, numbered(8, of(action, 5))); err != nil {
			return err
		}
	}
	return s.alive(7)
}

// releaseBelow: a late Release takes no containers from the next attempt; one that is in time does.
func releaseBelow(ctx context.Context, s *Subject) error {
	if err := s.all(ctx, of(checkpoint.Create, 7)); err != nil {
		return err
	}
	// The late Release leaves nothing on this server, so one that is done shows in the number of
	// containers.
	late := of(checkpoint.Release, 5)
	late.Containers = []string{"elsewhere"}
	return s.refuses(ctx, late)
}

// stopEarlier: a Stop ends the attempts up to its own.
func stopEarlier(ctx context.Context, s *Subject) error {
	return first(
		func() error { return s.start(ctx, 3) },
		// The mark of a Stop is a number above that of the attempt that runs: an agent that looks for
		// exactly attempt 9 ends nothing.
		func() error { return s.all(ctx, of(checkpoint.Stop, 9)) },
		func() error { return s.alive() },
	)
}

// stopLater: a Stop is never refused for its attempt, and ends none above it.
func stopLater(ctx context.Context, s *Subject) error {
	return first(
		func() error { return s.start(ctx, 7) },
		func() error { return s.all(ctx, of(checkpoint.Stop, 5)) },
		func() error { return s.alive(7) },
		// Alive may have been asked too early to see the processes end; a Confirm asks the agent as
		// well.
		func() error { return s.all(ctx, of(checkpoint.Confirm, 7)) },
	)
}

// resumeNeedsCreate: without the Create of its attempt a Resume fails, which is no refusal.
func resumeNeedsCreate(ctx context.Context, s *Subject) error {
	return first(
		func() error { return s.expect(ctx, checkpoint.Failed, of(checkpoint.Resume, 2)) },
		func() error { return s.all(ctx, of(checkpoint.Create, 3)) },
		// The agent knows the job, and not this attempt.
		func() error { return s.expect(ctx, checkpoint.Failed, of(checkpoint.Resume, 4)) },
		func() error { return s.alive() },
		func() error { return s.started(4, 0) },
	)
}

// resumeOnce: an attempt is started once, also if its processes have died since.
func resumeOnce(ctx context.Context, s *Subject) error {
	return first(
		func() error { return s.start(ctx, 2) },
		func() error { return s.all(ctx, of(checkpoint.Resume, 2)) },
		func() error { return s.started(2, 1) },
		// The processes die between two Resumes. Those that the second one would start would begin
		// from a checkpoint that may not be the newest any more, and the master would not learn of the
		// death.
		func() error { s.Kill(job); return s.alive() },
		func() error { return s.all(ctx, of(checkpoint.Resume, 2)) },
		func() error { return s.alive() },
		func() error { return s.started(2, 1) },
	)
}

// repeated: an effect says what shall be, so that it can be done twice.
func repeated(ctx context.Context, s *Subject) error {
	save := numbered(9, of(checkpoint.Save, 2))
	for _, e := range []checkpoint.Effect{of(checkpoint.Create, 2), of(checkpoint.Resume, 2), of(checkpoint.Confirm, 2), of(checkpoint.Stop, 2), of(checkpoint.Release, 2)} {
		// The second one is the same in every field, as if the reply to the first was lost.
		if err := s.all(ctx, e, e); err != nil {
			return fmt.Errorf("the same once more: %w", err)
		}
		// A Save needs processes that are seen running, so it comes behind the Confirm.
		if e.Action != checkpoint.Confirm {
			continue
		}
		if err := s.all(ctx, save); err != nil {
			return err
		}
	}
	return s.alive()
}

// containers: a Create makes those that it lists, a Release leaves no more than it lists.
func containers(ctx context.Context, s *Subject) error {
	step := func(action checkpoint.Action, attempt int64, want int, list ...string) func() error {
		return func() error {
			e := of(action, attempt)
			// One container is on another server: an agent counts its own.
			e.Containers = append(list, "somewhere else")
			if err := s.all(ctx, e); err != nil {
				return err
			}
			if got := s.Containers(job); got != want {
				return fmt.Errorf("after a %s that lists %v there are %d containers, want %d", action, e.Containers, got, want)
			}
			return nil
		}
	}
	here := s.Server
	return first(
		step(checkpoint.Create, 1, 3, here, here, here),
		step(checkpoint.Create, 1, 3, here, here, here),
		// A Stop ends processes and leaves containers, which the next attempt may keep.
		step(checkpoint.Stop, 1, 3),
		step(checkpoint.Release, 1, 1, here),
		// A Release leaves no more than it lists and creates none, so one container stays one.
		step(checkpoint.Release, 1, 1, here, here),
		// A Create says how many there are, fewer or more than before.
		step(checkpoint.Create, 2, 2, here, here),
		step(checkpoint.Stop, 2, 2),
		step(checkpoint.Release, 2, 0),
	)
}

// unreadable: a Resume from a checkpoint that is not there says so, and starts nothing.
func unreadable(ctx context.Context, s *Subject) error {
	return first(
		func() error { return s.all(ctx, of(checkpoint.Create, 2)) },
		// Number 77 was never committed. Damaged and not Failed: the master then goes back to an
		// earlier checkpoint, and does not try this one again.
		func() error { return s.expect(ctx, checkpoint.Damaged, numbered(77, of(checkpoint.Resume, 2))) },
		func() error { return s.alive() },
		func() error { return s.started(2, 0) },
	)
}

// status: an agent tells of the newest attempt that was started, and not of one that was stopped.
func status(ctx context.Context, s *Subject) error {
	told := func(want ...int64) func() error {
		return func() error {
			got, err := s.Agent.Status(ctx, agent.Question{Epoch: 1})
			if err != nil {
				return err
			}
			// The comparison is exact: an attempt too many would be taken for a second life of the
			// job.
			ok := len(got.Jobs) == len(want)
			for i := 0; ok && i < len(want); i++ {
				ok = got.Jobs[i].Job == job && got.Jobs[i].Attempt == want[i] && got.Jobs[i].Progress.Running
			}
			if !ok {
				return fmt.Errorf("the status is %+v, want attempts %v running", got.Jobs, want)
			}
			return nil
		}
	}
	return first(
		// A status is exact: what it leaves out counts as gone, and what it has too much of as a second life.
		// Nothing was asked of the agent yet.
		told(),
		func() error { return s.start(ctx, 2) },
		told(2),
		func() error { return s.all(ctx, of(checkpoint.Stop, 2)) },
		told(),
		func() error { return s.start(ctx, 3) },
		told(3),
	)
}

// memory: an agent that was killed still refuses what it refused before.
func memory(ctx context.Context, s *Subject) error {
	return first(
		func() error { return s.start(ctx, 3) },
		func() error { return s.named(ctx, true, s.Restart) },
		// The job is still known, and so is that it was started: it is neither started again nor given up.
		func() error { return s.alive(3) },
		func() error { return s.refuses(ctx, of(checkpoint.Create, 2)) },
		func() error { return s.all(ctx, of(checkpoint.Resume, 3), of(checkpoint.Confirm, 3)) },
		func() error { return s.started(3, 1) },
		// An attempt that was stopped stays so. This is the mark that a message which lingers would undo.
		func() error { return s.all(ctx, of(checkpoint.Stop, 3)) },
		s.Restart,
		func() error { return s.refuses(ctx, of(checkpoint.Create, 3)) },
		// The epoch outlives the agent as well: the master that was replaced may still be there.
		func() error { return s.all(ctx, by(6, of(checkpoint.Create, 4))) },
		s.Restart,
		func() error { return s.refuses(ctx, by(5, of(checkpoint.Create, 5))) },
	)
}

// lostMemory: an agent without a memory does nothing that was asked of it before.
func lostMemory(ctx context.Context, s *Subject) error {
	return first(
		func() error { return s.start(ctx, 3) },
		func() error { return s.named(ctx, false, s.Forget) },
		// Failed and not Fenced: nobody has taken over, and a master that hears of a fence ends.
		func() error { return s.expect(ctx, checkpoint.Failed, of(checkpoint.Resume, 3)) },
		func() error { return s.expect(ctx, checkpoint.Failed, numbered(8, of(checkpoint.Save, 3))) },
		func() error { return s.alive() },
		// The server is of use again at once, for attempts that begin with a Create.
		func() error { return s.start(ctx, 4) },
	)
}

// leaseEnds: without a master all jobs end, and an attempt that ended so has failed, for nobody has fenced it
// off. A later one can be started when a master is heard again.
func leaseEnds(ctx context.Context, s *Subject) error {
	if err := s.start(ctx, 2); err != nil {
		return err
	}
	// 1.5 lengths are more than one by far, whatever the precision of the agent's clock is.
	s.Elapse(1.5)
	return first(
		s.ends,
		func() error { return s.expect(ctx, checkpoint.Failed, of(checkpoint.Resume, 2)) },
		func() error { return s.expect(ctx, checkpoint.Failed, numbered(8, of(checkpoint.Save, 2))) },
		func() error { return s.alive() },
		// A Stop is done although nothing lives any more: the master's phase waits for the reply.
		func() error { return s.all(ctx, of(checkpoint.Stop, 2)) },
		// The master is heard again. Without a new stamp attempt 3 would end at once.
		func() error { return s.greet(ctx) },
		func() error { return s.start(ctx, 3) },
	)
}

// oldStamps: words of a master that hand back no newer stamp renew nothing, however many there are. So a
// master whose answers are lost knows when the lease is over.
func oldStamps(ctx context.Context, s *Subject) error {
	if err := s.start(ctx, 2); err != nil {
		return err
	}
	s.Elapse(0.6)
	if err := s.alive(2); err != nil {
		return fmt.Errorf("before the lease is over: %w", err)
	}
	// Both words come in time, and bring back the stamp of the beginning. Twice 0.6 of a length after that
	// the lease is over, however young the words are.
	if _, err := s.Agent.Status(ctx, agent.Question{Epoch: 1, Heard: s.heard}); err != nil {
		return err
	}
	if err := s.all(ctx, of(checkpoint.Confirm, 2)); err != nil {
		return err
	}
	s.Elapse(0.6)
	return s.ends()
}
