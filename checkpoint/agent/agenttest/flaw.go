// This file implements the flaws of a Server: promises that it breaks so that the suite's own tests can see
// every check fail.

package agenttest

import (
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
)

// flaw is a promise that a server breaks.
//
// Its text completes the sentence "a server that ...", as which tests print it.
//
// Each is one that an agent for a real cluster can have by a plain mistake: a mark that is not looked at, or
// not written down, or a word that is taken for another.
type flaw string

// The flaws. What they are about is in the checks that see them.
const (
	keepsAll        flaw = ""
	obeysOldMaster  flaw = "obeys a lower epoch"
	epochOfJob      flaw = "keeps one epoch for each job"
	answersAnyone   flaw = "answers the question of a lower epoch"
	revives         flaw = "resumes a stopped attempt"
	recreates       flaw = "creates a stopped attempt"
	savesStopped    flaw = "saves under a stopped attempt"
	goesBack        flaw = "creates an attempt below the highest"
	releasesLate    flaw = "releases for an attempt below the highest"
	refusesStop     flaw = "refuses to stop an attempt below the highest"
	stopsAll        flaw = "stops later attempts, too"
	needsNoCreate   flaw = "resumes what was not created"
	startsAgain     flaw = "starts an attempt twice"
	failsRepeated   flaw = "fails what was done before"
	saysFailed      flaw = "says failed where it refuses"
	actsRefused     flaw = "does what it refuses"
	ignoresLease    flaw = "goes on without a lease"
	renewsAlways    flaw = "renews the lease at any word"
	forgetsAlways   flaw = "forgets when it is killed"
	stopsOwn        flaw = "stops the attempt that is named, and none before"
	tellsStopped    flaw = "tells of attempts that were stopped"
	beginsAnew      flaw = "begins anew where a checkpoint cannot be read"
	releasesAll     flaw = "releases containers that are to stay"
	savesNothing    flaw = "says that it has saved"
	obeysAny        flaw = "obeys what is for another agent of its name"
	anyJournal      flaw = "does what is on record in another journal"
	epochElsewhere  flaw = "takes the epoch of another journal for that of its masters"
	lastHeard       flaw = "tells what it has heard last, and not the highest"
	forgetsWitness  flaw = "forgets its journal when it is killed"
	verifiesNothing flaw = "says that it has verified"
	anyStore        flaw = "takes every store for the one that is named"
	savesAnywhere   flaw = "saves into every store"
	keepsName       flaw = "has lost its memory, and the name of it stays"
)

// admit is the fence, and what is left of it with the flaw.
func (broken flaw) admit(f agent.Fence, e checkpoint.Effect) (agent.Fence, agent.Verdict) {
	// The right answer comes first, so that each flaw changes one thing of it and keeps all the
	// others.
	after, v := f.Admit(e)
	// late: the master is the right one, and the attempt is over.
	late := v.Ruling == agent.Refused && v.Reason.Constraint == agent.AttemptPassed
	// stopped: it is over because of a Stop, and not only because a later attempt was created.
	stopped, perform := late && e.Attempt <= f.Stopped, agent.Verdict{Ruling: agent.Perform}
	allowed := false
	switch broken {
	// No look at the epoch at all.
	case obeysOldMaster:
		allowed = v.Reason.Constraint == agent.EpochPassed
	// The epoch is kept beside the marks of each job, so a job that is new to the server has none.
	case epochOfJob:
		allowed = v.Reason.Constraint == agent.EpochPassed && f.Created == 0
	// The mark of the Stop is forgotten, for one kind of effect each.
	case revives:
		allowed = stopped && e.Action == checkpoint.Resume
	case recreates:
		allowed = stopped && e.Action == checkpoint.Create
	case savesStopped:
		allowed = stopped && e.Action == checkpoint.Save
	// Only a Stop is remembered, and no Create.
	case goesBack:
		allowed = late && !stopped && e.Action == checkpoint.Create
	// A Release counts as harmless, whatever its attempt.
	case releasesLate:
		allowed = late && e.Action == checkpoint.Release
	// Whoever comes first is admitted, without the memory that a Create leaves.
	case needsNoCreate:
		allowed = v.Reason.Constraint == agent.NotCreated
	// The Resume of an attempt that was started is done once more.
	case startsAgain:
		allowed = v.Ruling == agent.Repeated
	// The opposite: what was done is an error when it is asked for again, so a master that lost the
	// reply gives up.
	case failsRepeated:
		if v.Ruling == agent.Repeated {
			v.Ruling = agent.Impossible
		}
	// A master of another cluster whose configuration names this server is obeyed, and stops what runs here.
	case anyJournal:
		allowed = v.Reason.Constraint == agent.OtherJournal
	// It is not obeyed, but its epoch counts, and the right master, whose own is lower, is refused from
	// then on.
	case epochElsewhere:
		if v.Reason.Constraint == agent.OtherJournal {
			after.Epoch = max(f.Epoch, e.Epoch)
		}
	// The number of an effect that comes late takes the place of a higher one, and a journal that has lost
	// its end seems complete.
	case lastHeard:
		if v.Ruling == agent.Perform {
			after.Witness.Number = e.ID
		}
	// A Stop that comes late is taken for that of an old master. The master waits for its reply for
	// ever.
	case refusesStop:
		if e.Action == checkpoint.Stop && e.Attempt < f.Created {
			return f, agent.Verdict{Ruling: agent.Refused}
		}
	// The effect is refused, and the master that was replaced goes on to believe that it is one.
	case saysFailed:
		if v.Ruling == agent.Refused {
			v.Ruling = agent.Impossible
		}
	}
	// The fence after the effect stays the right one: a flaw is about one decision and not about the
	// memory.
	if allowed {
		v = perform
	}
	return after, v
}
