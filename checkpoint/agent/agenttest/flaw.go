// This file implements the flaws of a Server: promises that it breaks so that the suite's own tests can see
// every check fail.

package agenttest

import (
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
)

// flaw is a promise that a server breaks.
type flaw string

// The flaws. What they are about is in the checks that see them.
const (
	keepsAll       flaw = ""
	obeysOldMaster flaw = "obeys a lower epoch"
	epochOfJob     flaw = "keeps one epoch for each job"
	answersAnyone  flaw = "answers the question of a lower epoch"
	revives        flaw = "resumes a stopped attempt"
	recreates      flaw = "creates a stopped attempt"
	savesStopped   flaw = "saves under a stopped attempt"
	goesBack       flaw = "creates an attempt below the highest"
	releasesLate   flaw = "releases for an attempt below the highest"
	refusesStop    flaw = "refuses to stop an attempt below the highest"
	stopsAll       flaw = "stops later attempts, too"
	needsNoCreate  flaw = "resumes what was not created"
	startsAgain    flaw = "starts an attempt twice"
	failsRepeated  flaw = "fails what was done before"
	saysFailed     flaw = "says failed where it refuses"
	actsRefused    flaw = "does what it refuses"
	ignoresLease   flaw = "goes on without a lease"
	renewsAlways   flaw = "renews the lease at any word"
	forgetsAlways  flaw = "forgets when it is killed"
	stopsOwn       flaw = "stops the attempt that is named, and none before"
	tellsStopped   flaw = "tells of attempts that were stopped"
	beginsAnew     flaw = "begins anew where a checkpoint cannot be read"
	releasesAll    flaw = "releases containers that are to stay"
	savesNothing   flaw = "says that it has saved"
)

// admit is the fence, and what is left of it with the flaw.
func (broken flaw) admit(f agent.Fence, e checkpoint.Effect) (agent.Fence, agent.Verdict) {
	after, v := f.Admit(e)
	late := v.Ruling == agent.Refused && v.Reason.Constraint == agent.AttemptPassed
	stopped, perform := late && e.Attempt <= f.Stopped, agent.Verdict{Ruling: agent.Perform}
	allowed := false
	switch broken {
	case obeysOldMaster:
		allowed = v.Reason.Constraint == agent.EpochPassed
	case epochOfJob:
		allowed = v.Reason.Constraint == agent.EpochPassed && f.Created == 0
	case revives:
		allowed = stopped && e.Action == checkpoint.Resume
	case recreates:
		allowed = stopped && e.Action == checkpoint.Create
	case savesStopped:
		allowed = stopped && e.Action == checkpoint.Save
	case goesBack:
		allowed = late && !stopped && e.Action == checkpoint.Create
	case releasesLate:
		allowed = late && e.Action == checkpoint.Release
	case needsNoCreate:
		allowed = v.Reason.Constraint == agent.NotCreated
	case startsAgain:
		allowed = v.Ruling == agent.Repeated
	case failsRepeated:
		if v.Ruling == agent.Repeated {
			v.Ruling = agent.Impossible
		}
	case refusesStop:
		if e.Action == checkpoint.Stop && e.Attempt < f.Created {
			return f, agent.Verdict{Ruling: agent.Refused}
		}
	case saysFailed:
		if v.Ruling == agent.Refused {
			v.Ruling = agent.Impossible
		}
	}
	if allowed {
		v = perform
	}
	return after, v
}
