// This file holds what Reallocate answers, Decision and its parts, and their form in JSON.

package alloc

import (
	"encoding/json"
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/number"
)

// Status says what Reallocate did.
type Status string

// The statuses.
const (
	// Decided: Allocation is a solution of P2.
	Decided Status = "decided"
	// Kept, with Rule.Paper: no solution was found, so Allocation is what ran before and newcomers wait, as the
	// paper has it ([Dorm §IV-B], last sentence). Reason says which constraint stood against it.
	Kept Status = "kept"
)

// Decision is the answer to a Problem. It is a value: written with encoding/json and read back it is
// the same, and Explain, Verify and NewPlan need nothing but it and the problem.
type Decision struct {
	// Status is Decided unless Rule.Paper found no solution.
	Status Status `json:"status"`
	// Allocation is who should have how many containers on which server from now on. It holds no
	// entries of zero. When Kept it is Previous without what has finished or stood on a server
	// that is not in the list.
	Allocation Allocation `json:"allocation"`
	// Objective is the utilization (10) of Allocation, between 0 and the number of kinds, less the prices of restarts
	// (Options.RestartCost) of those that are adjusted. Where any application states a worth it is the sum of worths less prices, of all
	// that P2 was about, and Bound is in the same unit.
	Objective float64 `json:"objective"`
	// Bound is an upper bound on the objective of any solution of P2, at most solver.Instance.Cap;
	// 0 when Kept. JSON leaves it out then, and where it is infinite. It is one for P2 among those who were taken in, as
	// Gap is: nothing is said of those in Waiting and Suspended with LeftOut.
	Bound float64 `json:"bound,omitzero"`
	// OpenBound is an upper bound on the objective of every choice of who is let in, within ceilings and (16), and whatever is lost:
	// what it is above Bound is the price of the order of asking, at most. 0, and absent in JSON, where nobody was left out, where
	// worths have no bound, and with Rule.Paper.
	OpenBound float64 `json:"open_bound,omitzero"`
	// Gap is (Bound - Objective) / |Bound|, where any application states a worth in parts of what all worths together can
	// differ by: 0 for a proven optimum, and when Kept. JSON leaves it out when Kept, and where it is infinite.
	Gap float64 `json:"gap,omitzero"`
	// Proven is how far down the preference among optima the answer is proven.
	Proven solver.Rank `json:"proven"`
	// Metrics are equations (1)-(4) for Allocation, with the budgets of the decision. With Rule.Paper and
	// AdmitPrefix they count the applications that were left out of P2, so that FairnessLoss may exceed
	// LossBudget.
	Metrics Metrics `json:"metrics"`
	// Shares has one entry for every application of the problem, in its order.
	Shares []Share `json:"shares"`
	// Queues has one entry for every queue of the problem, in its order; nil with Options.Order by submission, and with Rule.Paper.
	Queues []QueueUse `json:"queues,omitzero"`
	// Waiting lists the newcomers without containers, in the order of the problem; when Kept all without
	// containers.
	Waiting []Waiting `json:"waiting,omitzero"`
	// Suspended lists the applications that ran and are left without containers, in the order of the
	// problem: they found no room where they had to move, or made room for one of higher priority.
	Suspended []Waiting `json:"suspended,omitzero"`
	// Draining lists the applications that leave cordoned servers, in the order of the problem.
	Draining []string `json:"draining,omitzero"`
	// Staying lists the applications that are left on cordoned servers, in the order of the problem, and why; nil with Rule.Paper.
	Staying []Staying `json:"staying,omitzero"`
	// Yielding lists the applications whose place went to others by a guarantee, by level or by priority and that go on with less
	// or elsewhere, and those that grew by a guarantee, in the order of the problem: their change counts against no budget.
	Yielding []string `json:"yielding,omitzero"`
	// Reservations are what is kept for applications that are due, which the next problem hands back. P2 keeps it free, and so Bound
	// is one for what is left.
	Reservations []Reservation `json:"reservations,omitzero"`
	// Settled is for the next problem; nil with Rule.Paper and where Interrupted.
	Settled *Settled `json:"settled,omitempty"`
	// LeastLoss says why the loss budget is above what Theta1 gives; nil: it is not.
	LeastLoss *LeastLoss `json:"least_loss,omitempty"`
	// Reason says why the existing allocation was kept; nil when Decided.
	Reason *apportion.Reason `json:"reason,omitempty"`
	// Interrupted says that the context ended the search early: the answer is valid, another run
	// may give a better one.
	Interrupted bool `json:"interrupted,omitempty"`
	// Certificate is what proves Bound, and says who took the decision. When Kept it has no prices.
	Certificate solver.Certificate `json:"certificate,omitzero"`
}

// Share is how one application fares under the decision. Shares are parts of what the cluster has of the kind of which the
// part is largest.
type Share struct {
	ID string `json:"id"`
	// Option is the ID of the option in use; empty where it has no containers, or no options.
	Option string `json:"option,omitempty"`
	// Domain is that of the level that it must be within, in which it is, or would be if it had containers: its labels from the widest
	// on, with slashes between them. Empty where it need not be within one, or was left out.
	Domain string `json:"domain,omitempty"`
	// Containers is n_i.
	Containers int64 `json:"containers"`
	// Actual is its dominant share s_i, Theoretical the s^_i that DRF would give it, Loss the
	// distance between them (2). All lie in [0, 1], but for a Loss in worth, which may be any number from 0 up to
	// solver.MaxWorth. Theoretical and Loss are 0 for whoever has no part in the shares: who was
	// left out, or, with Rule.Paper, who can never be served.
	Actual      float64 `json:"actual"`
	Theoretical float64 `json:"theoretical"`
	Loss        float64 `json:"loss"`
	// Guaranteed is how many of its containers P2 was not allowed to take, since they are within what its queue is guaranteed.
	Guaranteed int64 `json:"guaranteed,omitzero"`
	// Most is how many containers P2 was allowed to give it, since more is beyond what its queue is guaranteed and an application waits that
	// would stay within its own guarantee; 0: as many as it may have.
	Most int64 `json:"most,omitzero"`
	// Adjusted is r_i (3): it ran before, and its containers change. Forced says that they had to: it
	// could not stay, and its change counts against no budget.
	Adjusted bool `json:"adjusted"`
	Forced   bool `json:"forced,omitempty"`
	// Worth is its part of Objective, where any application of the problem states a worth; else 0.
	Worth float64 `json:"worth,omitzero"`
}

// QueueUse is how one queue fares under the decision.
type QueueUse struct {
	ID string `json:"id"`
	// Used is what all below it have together, one quantity a kind.
	Used apportion.Resources `json:"used"`
	// Guarantee is what it is guaranteed, one quantity a kind: what it states, else the sum of those below it, scaled where
	// guarantees exceed what there is. nil: it has none of its own.
	Guarantee apportion.Resources `json:"guarantee,omitempty"`
	// Level is the largest part of the cluster that it has of any kind, and its Usage, over its weight.
	Level float64 `json:"level"`
	// Waiting is how many applications below it have no containers.
	Waiting int `json:"waiting,omitzero"`
}

// Reservation is room that is kept for an application that is due.
type Reservation struct {
	// ID is the application's.
	ID string `json:"id"`
	// Servers are its fewest containers by server. Empty: a ceiling of its queue, or of one above that, has no room for it, and no
	// servers are reserved as long as that is so.
	Servers map[string]int64 `json:"servers,omitempty"`
	// At is when it can start at the latest, from now, by what is known of those that it waits for: 0 or more, in the unit of
	// Application.Ends. nil: that is not known.
	At *float64 `json:"at,omitempty"`
	// For lists the applications whose end it waits for.
	For []string `json:"for,omitzero"`
}

// Waiting is an application that holds no containers after the decision, and why. It is no fault: asked again when something
// has finished, the next decision may serve it.
type Waiting struct {
	ID string `json:"id"`
	// Reason says why; its Constraint is one of the constants of package solver.
	Reason apportion.Reason `json:"reason"`
	// LeftOut says that the decision was taken as if the application were not there.
	LeftOut bool `json:"left_out,omitempty"`
	// Passed is what was let in past it so far, in parts of the cluster: Application.Passed, and what this decision has let in after it
	// was refused. A caller that hands it back gets what Options.Patience promises.
	Passed float64 `json:"passed,omitzero"`
}

// Metrics are equations (1)-(4) of the paper for one allocation, and beside them what the paper does not count: who had to
// change, and on how many servers applications are spread.
type Metrics struct {
	// Utilization[k] is u_k, the used part of kind k of the whole cluster; 0 where the cluster has
	// none of it.
	Utilization []float64 `json:"utilization"`
	// ResourceUtilization is the sum of u_k (1), between 0 and the number of kinds.
	ResourceUtilization float64 `json:"resource_utilization"`
	// FairnessLoss is the sum of |s_i - s^_i| over A^t (2).
	FairnessLoss float64 `json:"fairness_loss"`
	// WaitingLoss is the fairness loss in which those that wait count too, at share 0 against their theoretical share among all; 0
	// where nobody that could be served was left out, and with Rule.Paper.
	WaitingLoss float64 `json:"waiting_loss,omitzero"`
	// Adjusted is the number of applications that ran before and whose containers change (4). Of these
	// Forced could not stay as they were, and Preempted were suspended for one of higher priority.
	Adjusted  int `json:"adjusted"`
	Forced    int `json:"forced"`
	Preempted int `json:"preempted,omitzero"`
	// ForcedByCeiling are those among Forced whose queue, or one above it, has more than its ceiling.
	ForcedByCeiling int `json:"forced_by_ceiling,omitzero"`
	// AdjustCost is the left side of (16): the costs of those adjusted, Forced and Preempted left out.
	AdjustCost int64 `json:"adjust_cost"`
	// LossBudget and AdjustBudget are the right sides of (15) and (16): where LeastLoss is not 0 the first is that, and what whole
	// containers add to it.
	LossBudget   float64 `json:"loss_budget"`
	AdjustBudget int64   `json:"adjust_budget"`
	// LeastLoss is the least fairness loss that was found within (16), where that is above what Theta1
	// gives, else 0.
	LeastLoss float64 `json:"least_loss,omitzero"`
	// ExtraServers is on how many more servers the applications are, together, than the fewest that would
	// hold the containers of each by itself.
	ExtraServers int64 `json:"extra_servers"`
	// ExtraDomains is, by label of Problem.Topology, in how many more domains of that level the applications are, together, than the
	// fewest empty ones that would hold the containers of each by itself; nil without a topology.
	ExtraDomains map[string]int64 `json:"extra_domains,omitzero"`
}

// LeastLoss says why a loss budget is above what Theta1 gives: no allocation that was found within the
// adjustment budget (16) loses less than Loss.
type LeastLoss struct {
	// Loss is the least fairness loss that was found, in the unit of Options.Loss: with what whole containers add to it the right side
	// of (15) from then on.
	Loss float64 `json:"loss"`
	// Bound is a lower bound on the fairness loss of every allocation; where it is above what Theta1
	// gives, it is proven that the budget could not be held.
	Bound float64 `json:"bound"`
	// Certificate is what proves Bound, on the instance with every Value 0 and a LossPrice of 1.
	Certificate solver.Certificate `json:"certificate,omitzero"`
}

// decisionFields is a Decision without its methods.
type decisionFields Decision

// decisionJSON is the form of a Decision in JSON: a bound or gap that is what the status implies is
// left out.
type decisionJSON struct {
	decisionFields
	Bound *number.Float `json:"bound,omitempty"`
	Gap   *number.Float `json:"gap,omitempty"`
}

// implied is the bound and the gap of a decision whose JSON has none: infinite where it was decided, since JSON has no
// infinity, and 0 where nothing was.
func (s Status) implied() float64 {
	if s == Decided {
		return math.Inf(1)
	}
	return 0
}

// MarshalJSON leaves out a bound and a gap that do not exist.
func (d Decision) MarshalJSON() ([]byte, error) {
	out := decisionJSON{decisionFields: decisionFields(d)}
	if d.Bound != d.Status.implied() {
		out.Bound = (*number.Float)(&d.Bound)
	}
	if d.Gap != d.Status.implied() {
		out.Gap = (*number.Float)(&d.Gap)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes: without a bound or a gap, those of a decision that was
// Decided are +Inf.
func (d *Decision) UnmarshalJSON(text []byte) error {
	var read decisionJSON
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*d = Decision(read.decisionFields)
	d.Bound, d.Gap = d.Status.implied(), d.Status.implied()
	if read.Bound != nil {
		d.Bound = float64(*read.Bound)
	}
	if read.Gap != nil {
		d.Gap = float64(*read.Gap)
	}
	return nil
}
