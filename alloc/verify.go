// This file recomputes a Decision from its problem: whether the two belong together, whether the
// allocation is a solution of P2, and the bound that the certificate proves.

package alloc

import (
	"errors"
	"fmt"
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// ErrMismatch is returned by Explain and Verify for a decision that is not an answer to the problem;
// apportion.Faults, or solver.ErrViolated, beside it say why.
var ErrMismatch = errors.New("alloc: the decision does not belong to the problem")

// boundTolerance is how far a recomputed bound may lie above the claimed one, in parts of it where it is above 1: a
// solver sums up the same prices in another order.
const boundTolerance = 1e-8

// provenTolerance is the gap that a proven optimum may have: general solvers stop at a tolerance of their
// own, 1e-9 here and up to 1e-6 where one scales to whole numbers.
const provenTolerance = 1e-6

// Proof is what Verify finds: how much of the decision's Bound anyone can recompute.
type Proof struct {
	// Bound is an upper bound on the utilization of every solution of the decision's P2, computed
	// afresh from the certificate by code that shares nothing with the solver.
	Bound float64 `json:"bound"`
	// Searched says that the decision's own Bound is lower because branch and bound or enumeration
	// ruled out the rest, a part of the proof that only another search can repeat, or because
	// utilizations come in steps and none lies between.
	Searched bool `json:"searched"`
	// LeastLoss is, where the loss budget was raised, a lower bound on the loss of every allocation, from the certificate in
	// Decision.LeastLoss.
	LeastLoss float64 `json:"least_loss,omitzero"`
	// Unchecked lists the fields of the decision that are its solver's or its admission's word, and do not follow from problem,
	// allocation and certificate: how far down the preference it is Proven, or why somebody was left out.
	Unchecked []string `json:"unchecked,omitzero"`
}

// Verify checks d as an answer to p with the referee alone, whoever gave it: that every number in it, and the reason of
// whoever is in and has nothing, follows from its allocation and p, that the allocation holds every constraint of P2 (when
// Kept: that it is what runs), and which bound the certificate proves, by weak duality: the best of solver.DualBound,
// solver.CopyBound and solver.Instance.Cap. When Kept nothing is claimed, and Bound is the Cap. What it cannot check
// without a search is in Proof.Unchecked.
//
// Errors: what p.Validate finds; ErrMismatch with every field of d that does not follow. The cost is
// that of the bounds: for thousands of servers some seconds.
func Verify(p *Problem, d *Decision) (Proof, error) { return verify(p, d, RecordVersion) }

// verify is Verify for a decision of a record of some version.
func verify(p *Problem, d *Decision, version int) (Proof, error) {
	_, a, unchecked, err := rebuild(p, d, version)
	if err != nil {
		return Proof{}, err
	}
	if d.Status == Kept {
		return Proof{Bound: a.instance.Cap(), Unchecked: unchecked}, nil
	}
	// No bound lies below what is attained, whatever search is said to have found it.
	tolerance := boundTolerance * math.Max(1, math.Abs(d.Bound))
	if d.Bound < d.Objective-tolerance {
		return Proof{}, mismatch("Bound", fmt.Sprintf("%g is below the objective %g", d.Bound, d.Objective))
	}
	bound, err := d.Certificate.Certified(a.instance)
	if err != nil {
		return Proof{}, fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	bound -= a.prices
	proof := Proof{Bound: bound, Searched: bound > d.Bound+tolerance, LeastLoss: a.certified, Unchecked: unchecked}
	if proof.Searched {
		proof.Unchecked = append(proof.Unchecked, "Bound")
	}
	if a.least != nil && a.least.Bound > a.certified+boundTolerance {
		proof.Unchecked = append(proof.Unchecked, "LeastLoss.Bound")
	}
	// A decision without prices claims no proof, and one with Searched says that the prices are not
	// all of it.
	if d.Proven >= solver.ByUtilization && d.Bound-d.Objective > solver.ObjectiveTolerance && solver.Gap(d.Objective, d.Bound) > provenTolerance {
		return proof, mismatch("Proven", fmt.Sprintf("%v, where the bound %g leaves room above %g", d.Proven, d.Bound, d.Objective))
	}
	if d.Proven < solver.ByUtilization && d.Bound-d.Objective <= solver.ObjectiveTolerance {
		return proof, mismatch("Proven", fmt.Sprintf("%v, where the bound is the objective", d.Proven))
	}
	c := &d.Certificate
	if proof.Searched && !c.Searched && (c.Multipliers != nil || c.Copies != nil) {
		return proof, mismatch("Bound", fmt.Sprintf("%g, where the certificate proves %g", d.Bound, bound))
	}
	return proof, nil
}

// mismatch is ErrMismatch with one fault of the decision itself.
// Callers find ErrMismatch with errors.Is and the fault with errors.As.
func mismatch(field, detail string) error {
	var faults apportion.Faults
	faults.Add(apportion.Item{}, field, apportion.ErrConflict, detail)
	return fmt.Errorf("%w:\n%w", ErrMismatch, faults)
}

// rebuild returns the P2 that d answers, with the answer, from p and d alone. It refuses a pair that
// does not belong together: ErrMismatch, with every field that does not follow. Nothing in d is believed but the
// allocation, the options in use, who was left out and the certificate, and these are checked. Explain and Verify begin
// with it, so that neither meets a decision of another problem.
func rebuild(p *Problem, d *Decision, version int) (r *resolved, a *attempt, unchecked []string, err error) {
	if err := p.Validate(); err != nil {
		return nil, nil, nil, err
	}
	if d == nil || d.Status != Decided && d.Status != Kept {
		return nil, nil, nil, mismatch("Status", "neither decided nor kept")
	}
	// 1. Names to positions, 2. the P2 that was asked with its constraints, 3. every number afresh,
	// 4. compared.
	r = resolve(p)
	r.version = version
	all, err := r.counts(d.Allocation, d.Shares)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w:\n%w", ErrMismatch, err)
	}
	if a, err = r.answered(d, all); err != nil {
		return nil, nil, nil, err
	}
	if d.Status == Kept && d.Reason == nil {
		return nil, nil, nil, mismatch("Reason", "kept for none")
	}
	again, err := r.again(d, a, all)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	unchecked = r.recount(again, d, a, version)
	if found := differences(d, again); len(found) > 0 {
		return nil, nil, nil, fmt.Errorf("%w:\n%w", ErrMismatch, faultsOf(found))
	}
	return r, a, unchecked, nil
}

// answered returns the P2 behind d, and checks the counts and the certificate against it. all has an entry for each
// application of the problem.
func (r *resolved) answered(d *Decision, all solver.Counts) (*attempt, error) {
	if d.Status == Kept {
		// There is no P2 to check: what runs may break any of its constraints, and was kept because of that.
		a := &attempt{instance: r.instanceOfAll(r.servable()), solution: &solver.Solution{Counts: all}}
		for i := range all {
			a.apps = append(a.apps, i)
			// Servers that are gone hold nothing in either, so that a kept decision without them
			// still matches.
			if !solver.SamePlaces(all[i], r.previous[i]) {
				return nil, mismatch("Allocation", "kept, and yet not what runs")
			}
		}
		return a, nil
	}
	// Which newcomers were left out is the only thing about P2 that the decision itself must say.
	apps, err := r.asked(d)
	if err != nil {
		return nil, err
	}
	if err := r.setLeaving(d); err != nil {
		return nil, err
	}
	if err := r.setYielding(d); err != nil {
		return nil, err
	}
	if err := r.setGuaranteed(d); err != nil {
		return nil, err
	}
	if err := r.problem.checkDomainsOf(d.Allocation); err != nil {
		return nil, err
	}
	if err := r.setHomes(d); err != nil {
		return nil, err
	}
	if err := r.setReserved(d, all); err != nil {
		return nil, err
	}
	if err := r.setRestrained(d, apps, all); err != nil {
		return nil, err
	}
	// The instance is that of the solver: the same code builds both, so that Verify proves the decision and not the program;
	// that is proven by the tests of instance against the paper.
	a := &attempt{apps: apps, instance: r.instance(apps), least: d.LeastLoss}
	if a.least != nil {
		if err := a.loosened(r); err != nil {
			return nil, err
		}
	}
	a.solution, a.prices = &solver.Solution{Counts: gather(apps, all), Certificate: d.Certificate}, r.prices(a)
	if err := a.instance.Check(a.solution.Counts); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	if err := d.Certificate.Check(a.instance); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	return a, nil
}

// again returns d with all that follows from its allocation computed afresh, but for who waits.
func (r *resolved) again(d *Decision, a *attempt, all solver.Counts) (*Decision, error) {
	// The copy keeps what is the solver's word: bound, rank, certificate. All else below is written over.
	again := *d
	sharing := r.servable()
	if !r.problem.Options.Paper {
		sharing = a.apps
	}
	if err := r.report(&again, sharing, all); err != nil {
		return nil, err
	}
	if d.Status == Kept {
		r.setKept(&again)
		again.Bound, again.Proven = 0, solver.ByNothing
	} else {
		// The sum runs in the solver's order, since floats added in another differ.
		again.Objective = r.attained(a.apps, all)
		r.setWorths(&again, a.apps, all)
	}
	again.Gap = r.gap(&again, a.instance)
	if again.OpenBound = 0; d.Status == Decided {
		again.OpenBound = r.openBound(a, d.Certificate.Multipliers)
	}
	return &again, nil
}
