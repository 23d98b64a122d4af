// This file tests the suite: the Server in memory passes every check, and each promise that it breaks is
// seen.

package agenttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// lease is that of the servers here, by a clock that the tests move.
const lease = time.Minute

// subject is a Server that breaks a promise, or none.
func subject(broken flaw) *Subject {
	var now time.Duration
	s := &Server{ID: "here", Store: &storetest.MemStore{}, Lease: lease, Now: func() time.Duration { return now }, broken: broken}
	return &Subject{
		Agent: s, Server: s.ID, Store: s.Store, Alive: s.Alive, Starts: s.Starts, Containers: s.Containers, Kill: s.Kill,
		Restart: func() error {
			if broken == forgetsAlways {
				s.Forget()
			}
			s.Restart()
			return nil
		},
		Forget:   func() error { s.Forget(); return nil },
		Elapse:   func(part float64) { now += time.Duration(part * float64(lease)) },
		Patience: time.Millisecond,
	}
}

func TestServer(t *testing.T) {
	Run(t, func(*testing.T) *Subject { return subject(keepsAll) })
}

// Every promise that a server breaks is seen by the check that is about it, and every check sees one.
func TestFlaws(t *testing.T) {
	planted := map[string][]flaw{
		"Adjustment":                  {savesNothing},
		"LowerEpoch":                  {obeysOldMaster, saysFailed},
		"EpochOfAllJobs":              {epochOfJob},
		"QuestionOfLowerEpoch":        {answersAnyone},
		"StoppedAttempt":              {revives, recreates, savesStopped},
		"AttemptBelowTheHighest":      {goesBack},
		"ReleaseBelowTheHighest":      {releasesLate, actsRefused},
		"StopEndsEarlierAttempts":     {stopsOwn},
		"StopSparesLaterAttempts":     {refusesStop, stopsAll},
		"ResumeNeedsCreate":           {needsNoCreate},
		"ResumeStartsOnce":            {startsAgain},
		"EffectsCanBeRepeated":        {failsRepeated},
		"ContainersAreWhatIsSaid":     {releasesAll},
		"UnreadableCheckpoint":        {beginsAnew},
		"StatusNamesTheNewestAttempt": {tellsStopped},
		"MemorySurvives":              {forgetsAlways},
		"LostMemory":                  {needsNoCreate, keepsName},
		"OrdersForAnother":            {obeysAny},
		"WitnessOfJournal":            {anyJournal, epochElsewhere, lastHeard, forgetsWitness},
		"Verify":                      {verifiesNothing, anyStore},
		"StoreThatIsNamed":            {anyStore, savesAnywhere},
		"LeaseEnds":                   {ignoresLease},
		"OldStampsRenewNothing":       {renewsAlways},
	}
	for _, c := range checks {
		if len(planted[c.name]) == 0 {
			t.Errorf("nothing is planted for %s", c.name)
		}
		for _, broken := range planted[c.name] {
			if err := c.try(t.Context(), subject(broken)); err == nil {
				t.Errorf("%s does not see a server that %s", c.name, broken)
			} else {
				t.Logf("a server that %s: %v", broken, err)
			}
		}
	}
}

// Checks that need what a subject does not have are left out, and the others are not.
func TestMissing(t *testing.T) {
	s := subject(keepsAll)
	s.Restart, s.Elapse = nil, nil
	left := 0
	for _, c := range checks {
		missing := c.missing(s)
		must.Equal(t, missing != "", slices.Equal(c.needs, []string{"Restart"}) || slices.Equal(c.needs, []string{"Elapse"}), c.name, missing, "is missing")
		if missing != "" {
			left++
		}
	}
	must.Equal(t, left, 4, "checks are left out")
}

// A reply to another effect than the one that was given is a fault of the agent.
func TestReplyToAnother(t *testing.T) {
	s := subject(keepsAll)
	s.Agent = mixesUp{s.Agent}
	if err := checks[0].try(t.Context(), s); err == nil || !strings.Contains(err.Error(), "is one to effect") {
		t.Error(err)
	}
}

// A store that fails is a failed save, and no reason to say that it was done.
func TestStoreFails(t *testing.T) {
	s := subject(keepsAll)
	ctx, cancel := context.WithCancel(t.Context())
	must.Do(t, errors.Join(s.greet(ctx), s.start(ctx, 1)))
	cancel()
	must.Do(t, s.expect(ctx, "failed", numbered(9, of("save", 1))))
}

// mixesUp answers with the number of another effect.
type mixesUp struct{ Agent }

func (m mixesUp) Do(ctx context.Context, o agent.Order) (checkpoint.Reply, error) {
	reply, err := m.Agent.Do(ctx, o)
	reply.ID++
	return reply, err
}
