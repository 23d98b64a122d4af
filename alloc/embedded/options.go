// This file holds what a caller may choose.

package embedded

import "github.com/apportion/apportion/alloc/embedded/internal/tuning"

// Effort is how much work a Solver does: work of annealing for each server and application, sets tried,
// nodes, leaves and rounds are in proportion. It is never a time, so that the same problem has the same
// answer everywhere.
type Effort int64

// The usual efforts. Any other positive number may be used. Neither an answer nor its bound is worse than with less of the usual
// efforts where the search begins with that: the paper's P2 by containers, all efforts above Default by sets, and Quick wherever the
// linear program of the instance is written. Elsewhere it is what TestMoreEffortIsNeverWorse has found for Quick, Default and three
// times Default on small clusters of seven families, the paper's, worths, losses in worth, ceilings, options, all of these, and
// nothing alike: no answer is worth less and no bound is looser. It holds for one instance: where its loss budget binds a decision
// asks for several, and more effort may find a lesser budget, within which less is worth having. Prove goes on until the optimum
// is proven, where branch and bound can do that at all.
const (
	Quick    Effort = 20
	Default  Effort = 100
	Thorough Effort = 1000
	Prove    Effort = 1_000_000
)

// below returns the next lower of the usual efforts, 0 where there is none.
func (e Effort) below() Effort {
	for _, less := range [...]Effort{Thorough, Default, Quick} {
		if e > less {
			return less
		}
	}
	return 0
}

// Options adjusts a Solver. nil and the zero value mean the defaults.
type Options struct {
	// Effort is the budget; 0 means Default.
	Effort Effort
	// Gap stops the search early: once (bound - utilization)/bound is at most Gap, in [0, 1].
	// 0 means only a proven optimum stops it.
	Gap float64
	// Seed selects the random numbers; every seed, 0 too, gives a reproducible answer.
	Seed uint64
	// Warm is what the last decision left, see WarmFrom; nil: nothing.
	Warm *Warm

	// brief: a search by containers ends where its first start finds no solution.
	brief bool
}

// Solver answers P2 as the package comment says. It is safe for concurrent use.
type Solver struct {
	opts Options
	tune *tuning.Numbers
}

// New returns a Solver; nil options mean the defaults, and so do an Effort below 1 and a Gap that
// is no number in [0, 1].
func New(opts *Options) *Solver {
	s := &Solver{tune: tuning.Standard()}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Effort < 1 {
		s.opts.Effort = Default
	}
	if !(s.opts.Gap >= 0 && s.opts.Gap <= 1) {
		s.opts.Gap = 0
	}
	return s
}
