// This file holds the record of a decision: all that is needed to check it, or to take it again,
// anywhere else.

package alloc

import (
	"context"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
)

// RecordVersion is the version of the form that NewRecord writes. Older ones are read too and have the same fields. Before version 6
// domains beyond the fewest cost nothing, and an application let twice its least counts pass where Options.Patience says nothing; before
// version 5 certificates had no prices on pieces, and a server more cost a tenth where Application.SpreadCost says nothing; before version 4
// reasons have other words and no blockers, and in version 1 worths have another gap, which Verify leaves unchecked; before version 3 the
// loss budget (15) was that of the paper, and a restart cost nothing where Options.RestartCost says nothing.
const RecordVersion = 6

const (
	ownWords      = 2 // from this version on gaps are those that are recomputed
	ownReasons    = 4 // from this version on reasons are those that are recomputed, with blockers
	shareBudgets  = 3 // from this version on the loss budget is a part of the shares
	restartPrices = 3 // from this version on restarts have a price
	// from this version on the absent spread cost is above that
	spreadAboveRestarts = 5
	domainPrices        = 6 // from this version on what prefers few domains loses by those beyond the fewest
	ownSizePasses       = 6 // from this version on an application lets as much pass as it needs itself
)

// Record is one decision as a document: the problem with its options, and the decision, whose
// Certificate says which solver took it with how much effort. In JSON it is
//
//	{"version": 6, "problem": {..}, "decision": {.., "certificate": {.., "by": {"solver": "embedded", ..}}}}
//
// The three fields are required when read: a record that lacks one is refused, not filled in.
type Record struct {
	// Version is at most RecordVersion.
	Version  int       `json:"version"`
	Problem  *Problem  `json:"problem"`
	Decision *Decision `json:"decision"`
}

// NewRecord returns the record of d, the answer to p. It retains both.
func NewRecord(p *Problem, d *Decision) *Record {
	return &Record{Version: RecordVersion, Problem: p, Decision: d}
}

// Verify checks the recorded decision with the referee alone, see the function Verify. A record of another version, or one
// without problem or decision, is refused with apportion.Faults.
func (r *Record) Verify() (Proof, error) {
	if err := r.check(); err != nil {
		return Proof{}, err
	}
	return verify(r.Problem, r.Decision, r.Version)
}

// Replay takes the decision again and lists where the answers differ; nothing: they are the same but
// for the prices that prove the bound. Of an older record it is taken with the budgets and prices of then. A nil solver means the embedded one with the recorded settings,
// and is apportion.ErrUnknown where another solver took the decision. What may differ without a fault is
// a decision that was Interrupted, or began from what an earlier one had left (solver.Settings.Warm).
func (r *Record) Replay(ctx context.Context, by solver.Solver) ([]Difference, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	// The recorded settings are all that the embedded solver's answer depends on beside the
	// problem.
	if by == nil {
		settings := r.Decision.Certificate.By
		// A decision about nobody needed no solver.
		if settings.Solver != embedded.Name && settings.Solver != "" {
			return nil, &apportion.FieldError{Field: "Decision.Certificate.By.Solver", Detail: strconv.Quote(settings.Solver), Err: apportion.ErrUnknown}
		}
		by = embedded.New(&embedded.Options{Effort: embedded.Effort(settings.Effort), Gap: settings.Gap, Seed: settings.Seed})
	}
	again, err := reallocate(ctx, r.Problem, by, r.Version)
	if err != nil {
		return nil, err
	}
	if r.Version < ownReasons {
		again.takeReasons(r.Decision)
	}
	return differences(r.Decision, again), nil
}

// check refuses a document that is no record of this version. Whether decision and problem belong together is for Verify.
func (r *Record) check() error {
	// All faults are collected, as Validate does, so that a caller corrects a document in one round. A newer version is
	// refused like any other: what it means is not known here.
	var faults apportion.Faults
	if r.Version < 1 || r.Version > RecordVersion {
		faults.Add(apportion.Item{}, "Version", apportion.ErrRange, strconv.Itoa(r.Version))
	}
	if r.Problem == nil {
		faults.Add(apportion.Item{}, "Problem", apportion.ErrEmpty, "")
	}
	if r.Decision == nil {
		faults.Add(apportion.Item{}, "Decision", apportion.ErrEmpty, "")
	}
	return faults.Err()
}

// takeReasons takes over the reasons of another decision for the same applications.
func (d *Decision) takeReasons(from *Decision) {
	said := make(map[string]apportion.Reason)
	for _, w := range slices.Concat(from.Waiting, from.Suspended) {
		said[w.ID] = w.Reason
	}
	for _, list := range [...][]Waiting{d.Waiting, d.Suspended} {
		for w := range list {
			if reason, known := said[list[w].ID]; known {
				list[w].Reason = reason
			}
		}
	}
}
