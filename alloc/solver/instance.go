// This file holds the Instance and its parts: P2 with every name resolved, [Dorm §IV].

package solver

import (
	"github.com/apportion/apportion"
)

// The tolerances of every comparison of sums of float64.
const (
	// LossTolerance is how far the fairness loss may exceed its budget and still count as within
	// it: sums of shares carry rounding errors of about 1e-16 a term.
	LossTolerance = 1e-9
	// ObjectiveTolerance is how far two utilizations may differ and still count as equal. One
	// container of the smallest demand in a cluster of 10^7 units changes it by more.
	ObjectiveTolerance = 1e-9
)

// Instance is one decision to take: servers, the applications A^t, and what runs now.
//
// With the fields that this package calls optional left zero it is the paper's P2, each adjustment at a
// cost of 1.
type Instance struct {
	// Capacity[j][k] is the capacity of server j in kind k. At least one server; every vector has
	// the same length.
	Capacity []apportion.Resources
	// Total[k] is C_k, of which shares are parts: the sum over all servers, or more where a part of them is kept free.
	Total apportion.Resources
	// Class[j] is the class of server j, 0 or more: servers of one class are open to the same
	// applications. Optional; nil: all are of class 0.
	Class []int
	// Apps lists the applications of A^t in the order of their submission.
	Apps []App
	// LossBudget is the right side of (15), in the unit of the applications' losses: as a rule shares.
	LossBudget float64
	// AdjustBudget is the right side of (16) rounded down, in units of App.Cost.
	AdjustBudget int64
	// Groups have ceilings (G). Optional; an application may be in any number of them.
	Groups []Group
	// Choices are applications that may run in several ways, each of which is an entry of Apps. Optional.
	Choices []Choice
	// LossPrice is what a unit of fairness loss takes from the objective; not negative, 0 in P2. With
	// every Value 0 and a LossPrice of 1 the optimum is the allocation of least loss.
	LossPrice float64
	// Start is an allocation to begin with, where the caller knows one: a solver looks whether it is a solution, and may
	// leave it aside. One that breaks the loss budget says that the caller raises that where no solution is found soon. Optional.
	Start Counts
}

// App is one application of an Instance, or one option of it: then a Choice says which others there are. The fields that are
// marked optional may stay zero.
type App struct {
	// Demand of one container, not zero in all kinds.
	Demand apportion.Resources
	// Min and Max bound the number of containers: 0 <= Min <= Max, 1 <= Max.
	Min, Max int64
	// Step: the number of containers is a multiple of it. Optional; 0 means 1.
	Step int64
	// Counts lists the numbers of containers within [Min, Max] that it may have, ascending, each
	// positive. Optional; nil: all multiples of Step.
	Counts []int64
	// Elective: it may also have no container at all, whatever Min, Step and Counts say. Optional.
	Elective bool
	// PerServer is how many of its containers may be on one server. Optional; 0: as many as fit.
	PerServer int64
	// MaxServers is on how many servers its containers may be. Optional; 0: on any number.
	MaxServers int64
	// Classes lists the classes of servers, ascending, on which it may be placed anew. Optional; nil:
	// all. What it holds now it may keep wherever that is.
	Classes []int
	// Value is v_i: what one container adds to the utilization (10).
	Value float64
	// Worth is what its containers bring to the objective by their number, beside Value times it: one entry for each
	// number of Counts or, without Counts, for each positive number that it may have, ascending. Entries are finite, up
	// to MaxWorth, and need neither rise nor be concave. Optional; nil: nothing.
	Worth []float64
	// Idle is that of no container, where it may have none. Optional, and 0 without Worth.
	Idle float64
	// Stay is what staying exactly as it is brings beside what its number is worth, the price of a restart: not
	// negative, up to MaxWorth. It counts only where the application is Running. Optional.
	Stay float64
	// Spread is what it loses by the servers that it is on. Optional; nil: nothing.
	Spread *Spread
	// Delta is delta_i: the dominant share of one container.
	Delta float64
	// Share is s^_i, the theoretical dominant share.
	Share float64
	// Losses is what it loses by its number of containers, in place of |Delta n - Share|: ascending in N, the first of
	// none, each finite, not negative and up to MaxWorth, of any shape. Optional. Delta and Share still say about where
	// it loses least, as a guide for a search.
	Losses []LossPoint
	// Running says that the application held containers before, so that it is in A^t-1 and a
	// change of its containers counts against AdjustBudget.
	Running bool
	// Displaced says that it cannot stay as it is, whatever its numbers say: for instance some of its
	// containers are on a server that is gone. Previous then lists the others.
	Displaced bool
	// Pinned says that it must stay as it is; it is Running, not Displaced, and within its own bounds.
	// Optional.
	Pinned bool
	// Cost is what changing its containers takes from AdjustBudget; not negative, 1 in P2. It counts only
	// where the application is Running.
	Cost int64
	// FreeAbove: with more containers than that a change takes nothing from AdjustBudget. Optional; 0: it always does.
	FreeAbove int64
	// Previous is where its containers are now, ascending in Server, each Count positive.
	// It may overfill a server that shrank, and its sum may lie outside [Min, Max].
	Previous []apportion.Placement
}

// Choice is an application that may run in several ways, each of which is an entry of Instance.Apps: at most one of
// them has containers. One that runs is Running in the way that it runs now and new in the others, so that a change of
// the way is one adjustment, and staying is worth something in the present way alone.
//
// All of them have the same Idle and lose the same without containers, and may have no container by themselves. What the
// application loses, and what it is worth without containers, counts once.
type Choice struct {
	// Apps are positions in Instance.Apps, ascending, at least one; no other Choice has them.
	Apps []int `json:"apps"`
	// Required: one of them has containers.
	Required bool `json:"required,omitempty"`
}

// Group is a set of applications, those below one queue, and the most that all of them may use together.
type Group struct {
	// Apps are positions in Instance.Apps, ascending.
	Apps []int `json:"apps"`
	// Ceiling has one quantity a kind, in [0, NoLimit].
	Ceiling apportion.Resources `json:"ceiling"`
}

// LossPoint is what an application loses with N containers, in the unit of Instance.LossBudget.
type LossPoint struct {
	N    int64   `json:"n"`
	Loss float64 `json:"loss"`
}

// Counts says where the containers of every application are, one entry for each: Counts[i] is ascending in Server and
// each Count is positive. It is the sparse form of Dorm's x[i][j].
type Counts [][]apportion.Placement

// Containers returns n_i, the number of containers in placed.
func Containers(placed []apportion.Placement) int64 {
	var n int64
	for _, p := range placed {
		n += p.Count
	}
	return n
}
