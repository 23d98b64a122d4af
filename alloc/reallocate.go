// This file takes the decision at an arrival or a completion, [Dorm §III-C1, §IV-B].

package alloc

import (
	"context"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
)

// Reallocate decides who has how many containers on which server from now on. A nil solver means
// the embedded one with its defaults.
//
// A decision is always possible. Who cannot stay as it is (its server is gone or too full, its bounds or
// requirements have changed) is moved, which counts against no budget, and suspended where it finds no room.
// Newcomers are taken in all together where a search finds room for that, else one by one: those whose queues stay within their
// guarantees, then queues by level, in a queue by Priority and then in the order of p.Applications ([Program §7]), each if all who are in still fit at their fewest containers, with any of their options, within the adjustment
// budget (16); whoever does not fit waits, with a reason, and blocks nobody until it
// is due: then room is kept for it ([Program §8]), where the problem hands back what the last decision said of it, as a Decider does.
// What is beyond a guarantee is taken for what is within one, free of charge; with Options.Preempt that suspends, and so does a higher
// Priority in one queue, whoever has no room elsewhere. Applications leave cordoned servers as far as the budget allows. Shares are those
// among all who are in. Where no allocation within (16) holds the loss budget (15), the budget is the least
// loss that one has, and what whole containers add to it. Then P2 is solved for all that are in.
//
// With Rule.Paper P2 is solved for everybody instead, and where it has no solution, or the solver finds
// none, the existing allocation is kept and the newcomers wait ([Dorm §IV-B]); with Options.AdmitPrefix the
// longest prefix of the newcomers that leaves P2 solvable is let in, by at most one attempt for each newcomer.
// Keeping is a result with a Reason, not an error.
//
// Errors: what p.Validate finds; what the solver returns when it could not run; ErrSolver. When
// ctx ends, the best answer so far is returned, marked Interrupted. p is read and not retained; the decision shares nothing
// with it. It may be called from several goroutines at once, as far as the solver may. The cost is that of the package
// documentation, most of it the solver's.
func Reallocate(ctx context.Context, p *Problem, by solver.Solver) (*Decision, error) {
	return reallocate(ctx, p, by, RecordVersion)
}

// reallocate is Reallocate as it was when records of some version were written.
func reallocate(ctx context.Context, p *Problem, by solver.Solver, version int) (*Decision, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if by == nil {
		by = embedded.New(nil)
	}
	r := resolve(p)
	r.version = version
	if r.problem.Options.Paper {
		return r.byPaper(ctx, by)
	}
	a := r.admitAll(ctx)
	if answer := r.atRest(a); answer != nil {
		return r.concluded(answer, a)
	}
	answer, err := r.solveGuaranteed(ctx, a.draft, by)
	if err != nil {
		return nil, err
	}
	// Where the caller is in a hurry the servers may be more than they need be.
	if ctx.Err() == nil {
		r.consolidate(answer)
		r.consolidateDomains(answer)
		r.chooseNumbers(a.draft, answer)
		r.makePieces(answer)
	}
	return r.concluded(answer, a)
}

// byPaper takes the decision as the paper has it: one P2 for everybody, and what ran before where it has no solution.
func (r *resolved) byPaper(ctx context.Context, by solver.Solver) (*Decision, error) {
	// 1. The paper's P2: everybody who could be served at all.
	whole, err := r.solve(ctx, r.servable(), by)
	if err != nil {
		return nil, err
	}
	admitted, refused := whole, (*attempt)(nil)
	// 2. Fewer newcomers, where that is allowed.
	if r.problem.Options.AdmitPrefix {
		if admitted, refused, err = r.admitPrefix(ctx, whole, by); err != nil {
			return nil, err
		}
	}
	// 3. The answer, or what ran before. The reason for keeping is that of the whole problem.
	if admitted.solution.Status.HasSolution() {
		return r.decided(admitted, refused)
	}
	return r.kept(whole)
}

// admitPrefix makes further attempts, each without one more of the newcomers, from the last one on,
// until one has a solution. admitted is that one, or the last one tried; refused is the attempt
// before it, with one newcomer more, or nil where whole has a solution.
func (r *resolved) admitPrefix(ctx context.Context, whole *attempt, by solver.Solver) (admitted, refused *attempt, err error) {
	// Each attempt is a whole search, so that this rule costs up to one for each newcomer.
	admitted = whole
	// The queue is cut from its end, so that nobody is let in before one who came earlier.
	for cut := len(whole.apps) - 1; cut >= 0 && !admitted.solution.Status.HasSolution(); cut-- {
		// What runs is no newcomer and stays in every attempt; leaving it out would stop it without
		// (16) noticing.
		// Options of one application are let in together.
		o := r.of[whole.apps[cut]]
		if r.runs(o) >= 0 || cut > 0 && r.of[whole.apps[cut-1]] == o {
			continue
		}
		refused = admitted
		if admitted, err = r.solve(ctx, r.withoutNewcomers(whole.apps, cut), by); err != nil {
			return nil, nil, err
		}
	}
	return admitted, refused, nil
}

// withoutNewcomers returns apps without the newcomers from position cut on.
func (r *resolved) withoutNewcomers(apps []int, cut int) []int {
	var kept []int
	for s, i := range apps {
		if s < cut || r.runs(r.of[i]) >= 0 {
			kept = append(kept, i)
		}
	}
	return kept
}
