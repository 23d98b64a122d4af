// This file holds what Reallocate answers: Decision and its parts.

package alloc

import (
	"github.com/apportion/apportion/alloc/solver"
)

// Status says what Reallocate did.
type Status string

const (
	// Decided: Allocation is a solution of P2.
	Decided Status = "decided"
	// Kept: no solution was found, so Allocation is what ran before and newcomers wait, as the
	// paper has it ([Dorm §IV-B], last sentence). Reason says which constraint stood against it.
	Kept Status = "kept"
)

// Decision is the answer to a Problem.
type Decision struct {
	Status Status `json:"status"`
	// Allocation is who should have how many containers on which server from now on. It holds no
	// entries of zero. When Kept it is Previous without what has finished or stood on a server
	// that is not in the list.
	Allocation Allocation `json:"allocation"`
	// Objective is the utilization (10) of Allocation, between 0 and the number of kinds.
	Objective float64 `json:"objective"`
	// Bound is an upper bound on the utilization of any solution of P2; meaningful when Decided.
	Bound float64 `json:"bound"`
	// Gap is (Bound - Objective) / Bound: 0 for a proven optimum. Meaningful when Decided.
	Gap float64 `json:"gap"`
	// Proven is how far down the preference among optima the answer is proven.
	Proven solver.Rank `json:"-"`
	// Metrics are equations (1)-(4) for Allocation.
	Metrics Metrics `json:"metrics"`
	// Shares has one entry for every application of the problem, in its order.
	Shares []Share `json:"shares"`
	// Waiting lists the applications without containers, in the order of the problem.
	Waiting []Waiting `json:"waiting,omitempty"`
	// Reason says why the existing allocation was kept; nil when Decided.
	Reason *Reason `json:"reason,omitempty"`
	// Interrupted says that the context ended the search early: the answer is valid, another run
	// may give a better one.
	Interrupted bool `json:"interrupted,omitempty"`

	// attempt is the P2 behind the answer, for Explain.
	attempt *attempt
}

// Share is how one application fares.
type Share struct {
	ID string `json:"id"`
	// Containers is n_i.
	Containers int64 `json:"containers"`
	// Actual is its dominant share s_i, Theoretical the s^_i that DRF would give it, Loss the
	// distance between them (2). All lie in [0, 1].
	Actual      float64 `json:"actual"`
	Theoretical float64 `json:"theoretical"`
	Loss        float64 `json:"loss"`
	// Adjusted is r_i (3): it ran before, and its containers change.
	Adjusted bool `json:"adjusted"`
}

// Waiting is an application that holds no containers after the decision.
type Waiting struct {
	ID string `json:"id"`
	// Reason says why.
	Reason Reason `json:"reason"`
}

// Reason says which constraint stands in the way, and with which numbers.
type Reason struct {
	// Constraint is the constraint of P2 that cannot be met, for instance solver.Capacity.
	Constraint solver.Constraint `json:"constraint,omitempty"`
	// Applications are the ones it cannot be met for; empty: all together.
	Applications []string `json:"applications,omitempty"`
	// Kind is the kind of resource that is short, if it is one.
	Kind string `json:"kind,omitempty"`
	// Need and Have are the two sides of the inequality that does not hold.
	Need float64 `json:"need"`
	Have float64 `json:"have"`
	// Text is the whole in one sentence.
	Text string `json:"text"`
}

// Metrics are equations (1)-(4) of the paper for one allocation.
type Metrics struct {
	// Utilization[k] is u_k, the used part of kind k of the whole cluster; 0 where the cluster has
	// none of it.
	Utilization []float64 `json:"utilization"`
	// ResourceUtilization is the sum of u_k (1), between 0 and the number of kinds.
	ResourceUtilization float64 `json:"resource_utilization"`
	// FairnessLoss is the sum of |s_i - s^_i| over A^t (2).
	FairnessLoss float64 `json:"fairness_loss"`
	// Adjusted is the number of applications that ran before and whose containers change (4).
	Adjusted int `json:"adjusted"`
	// LossBudget and AdjustBudget are the right sides of (15) and (16).
	LossBudget   float64 `json:"loss_budget"`
	AdjustBudget int64   `json:"adjust_budget"`
}
