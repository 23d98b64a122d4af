// This file computes the budgets: the right sides of (15) and (16), [Dorm §IV-B].

package alloc

import (
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

// ceilTolerance is how far above an integer a product theta * n may lie and still count as that
// integer under a ceiling: 0.1 * 2 * 3 is 0.6000000000000001 in float64.
const ceilTolerance = 1e-9

// lossBudget returns the right side of (15) for P2 over the entries in apps, dense[a] of apps[a], whose shares and losses are known:
// Theta1 times the sum of their theoretical shares, in worth Theta1 times the applications. It is no less than what whole containers
// lose: with jobs of less than half a container each, nobody would lose least by an empty cluster. Theta1 of 1 is no limit in shares.
func (r *resolved) lossBudget(apps []int, dense []solver.App) float64 {
	inWorth := r.problem.Options.Loss == LossInWorth
	if !inWorth && (r.printed() || r.problem.Theta1 == 1) {
		return r.printedLoss()
	}
	sum := 0.0
	for a, i := range apps {
		switch first := a == 0 || r.of[i] != r.of[apps[a-1]]; {
		case first && inWorth:
			sum++
		case first:
			sum += dense[a].Share
		}
	}
	budget := float64(r.problem.Theta1 * sum)
	if !r.printed() {
		budget = math.Max(budget, r.rounded(apps, dense).loss)
	}
	return budget
}

// printed reports whether the loss budget is as the paper prints it, with or without the ceiling.
func (r *resolved) printed() bool {
	return r.problem.Options.Paper || r.problem.Options.NoCeil15 || r.version < shareBudgets
}

// raisedBudget returns the loss budget of an attempt whose least loss is above what Theta1 gives: beside the least loss it has
// what the last containers add to it of the applications that lose less without them. At the least loss these would all stay idle.
func (a *attempt) raisedBudget(r *resolved, least float64) float64 {
	if r.printed() {
		return least
	}
	return least + r.rounded(a.apps, a.instance.Apps).rise
}

// printedLoss returns Theta1 times 2m, the largest possible loss, where m counts the kinds that the cluster has any of, rounded up unless
// that is dropped.
func (r *resolved) printedLoss() float64 {
	// 2m bounds every loss: |s_i - s^_i| <= s_i + s^_i, and the dominant shares of either side sum
	// to at most one for each of the m kinds.
	budget := r.problem.Theta1 * float64(2*r.kinds()) // (15)
	if r.problem.Options.NoCeil15 {
		return budget
	}
	// Theta1 = 0 makes the product 0, and the ceiling of -1e-9 is -0, which JSON would write as
	// "-0".
	return math.Max(0, math.Ceil(budget-ceilTolerance)) // not -0
}

// kinds returns m, how many kinds the cluster has any of, on cordoned servers only what is in use there.
func (r *resolved) kinds() int {
	// A kind of which the cluster has none cannot be lost: counting it would loosen the budget for
	// nothing.
	m := 0
	for _, c := range r.shared {
		if c > 0 {
			m++
		}
	}
	return m
}

// adjustBudget returns the right side of (16): Theta2 times the costs of all that run, but for those that are
// forced and do not count. Without the ceiling it is rounded down, which changes nothing for a sum of whole numbers.
func (r *resolved) adjustBudget() int64 {
	// Validate has seen that the sum is small enough to be exact in float64.
	sum := int64(0)
	for i := range r.previous {
		if r.running(i) {
			sum += r.ownCost(i)
		}
	}
	// (16) counts whole costs, so that whatever is below the next whole number is of no use.
	budget := r.problem.Theta2 * float64(sum) // (16)
	if r.problem.Options.NoCeil16 {
		return max(0, int64(math.Floor(budget+ceilTolerance)))
	}
	return max(0, int64(math.Ceil(budget-ceilTolerance)))
}
