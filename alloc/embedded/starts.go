// This file spends the moves of annealing: a warm-up before there are prices, then one start or several.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/search"
	"github.com/apportion/apportion/alloc/solver"
)

const (
	// warmUpPart is the part of the moves made before there are prices: the step rule of the root
	// bound needs an incumbent. polishing is the part made at the end at no temperature, for what
	// is preferred among equals.
	warmUpPart, polishing = 0.1, 0.1
	// warmUps is how often it is repeated, with heavier penalties, while no solution is found.
	warmUps = 4
	// mostPolish bounds the moves of a polish after a search of sets.
	mostPolish = 20_000
	// mostMoves is the most moves that any effort makes for each server and application: beyond,
	// annealing gains nothing.
	mostMoves = 2000
	// movesUnit is how many moves for each server and application one unit of effort pays for, up to
	// coldServers servers; with more each is visited rarely anyway.
	movesUnit = 2.5
	// movesOfStarts is how many moves for each server and application a start takes, times the number of
	// starts; movesOfFresh where nobody may be exchanged.
	movesOfStarts, movesOfFresh = 3, 100
	// enough is how many starts must agree on the best utilization for the rest to be saved.
	enough = 2
)

// warmUp finds an incumbent, as the root bound needs one to aim at, and nothing is mended for that.
func (r *run) warmUp(ctx context.Context) {
	for range warmUps {
		r.a.Run(ctx, int64(warmUpPart*r.moves()), search.Hot*r.a.Unit(), math.Inf(1))
		if r.a.Best.Found {
			break
		}
		r.a.Insist()
	}
	r.a.Hope = search.Hope
}

// starts spend the moves. Where applications may be exchanged one annealing settles on one set of them:
// several from the start find more than a long one, and where they come
// to the same utilization there is hardly more to find.
type starts struct {
	r                *run
	n, count, agreed int
	moves            int64 // of each
	heat             float64
}

func (r *run) newStarts() *starts {
	moves := r.moves()
	s := &starts{r: r, count: 1, heat: search.Hot * r.a.Unit()}
	if r.p.Servers <= coldServers {
		each := movesOfStarts
		if r.p.Budget <= 0 {
			each = movesOfFresh
		}
		s.count = int(math.Max(1, math.Floor(math.Sqrt(moves/float64(each*(r.p.Servers+len(r.p.Apps)))))))
	}
	s.moves = int64(moves / float64(s.count))
	return s
}

// next anneals from the next start, and reports whether there was one.
func (s *starts) next(ctx context.Context) bool {
	r := s.r
	if s.n == s.count || s.agreed == enough || ctx.Err() != nil {
		return false
	}
	before := r.a.Best.Objective
	if s.n > 0 {
		r.a.Restart()
	}
	s.n++
	r.a.Run(ctx, s.moves, s.heat, r.goal())
	switch best := r.a.Best.Objective; {
	case best > before+solver.ObjectiveTolerance:
		s.agreed = 1
	case r.a.Reached > best-solver.ObjectiveTolerance:
		s.agreed++
	}
	return true
}

// moves returns how many moves of annealing the effort allows.
func (r *run) moves() float64 {
	moves := math.Min(float64(r.opts.Effort), mostMoves) * float64(r.p.Servers+len(r.p.Apps))
	if r.p.Servers <= coldServers {
		moves *= movesUnit
	}
	return moves
}
