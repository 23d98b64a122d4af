// This file holds the numbers that trade time for quality, in one place.

// Package tuning holds the numbers that decide how the solver spends its effort. None of them decides
// whether an answer is right: bounds, memory and tolerances have constants of their own where they are
// used. To leave a part of the solver out, set its number to zero: BenchmarkAblation of package embedded
// does so, and its rows are what the comments here refer to; BenchmarkNumbers halves and doubles each of them.
package tuning

// Numbers are the numbers of one solver. A unit of effort is what embedded.Effort counts.
type Numbers struct {
	Budgets
	Phases
	Annealing
	Sets
	Tree
	Limits
	Ceilings
	Options
}

// Budgets say what one unit of effort pays for.
type Budgets struct {
	// Rounds is how many pairs of type and class the descent at the root evaluates for a unit of effort.
	// It takes at least FewestRounds and at most MostRounds rounds: with fewer the bound is loose, and
	// the search has no prices to go by; with more hardly any bound falls. Row "prices".
	Rounds                   float64
	FewestRounds, MostRounds float64
	// Nodes is the work of branch and bound for a unit of effort, in sets, entries and applications
	// looked at: proofs against time. Row "branch and bound".
	Nodes float64
	// Subproblems is how many residual problems at leaves a unit of effort pays for, and States the
	// states of one that is settled exactly. Rows "branch and bound" and "exact leaves".
	Subproblems, States float64
	// RestSubproblems and RestStates are the same at leaves that are instances of their own, the former
	// times the square of the servers, but at most Subproblems: they get dearer with the servers, and with
	// more applications more of them prove less. RestPatterns is how many patterns such a leaf may list,
	// times the square of the servers.
	RestSubproblems, RestStates, RestPatterns float64
	// Work is how much of annealing a unit of effort pays for, for each server and application, in
	// placements chosen: a move is as many as its fills choose, so that time is in proportion. FreshWork is the same
	// where nobody may be exchanged, which takes a part of the moves, and CeilingWork below ceilings, which make a move
	// dear, or DividedWork where a search below maxima has answered before: rows "ceiling work" and "divided work", by
	// time. More servers and applications than Crowd count as so many, so that the usual efforts end within seconds on
	// the largest clusters, and annealing gains nothing from more than MostEffort. Row "annealing".
	Work, FreshWork, CeilingWork, DividedWork, Crowd, MostEffort float64
	// Filled is how many steps of the last attempt to place all minima a unit of effort pays for: it is
	// made where nothing else has found a solution, and full clusters are kept as they are without it. So many
	// also look for room for the best numbers of joined servers: without them 6 of 100 decisions of twelve jobs
	// on 16 equal servers take fifty times as long and are not proven.
	Filled float64
	// Enumerated is how many nodes of the enumeration a unit of effort pays for; it is tried on up to
	// MostCells pairs of application and server: of 16 draws of tests with 31 to 60 it ended in 2.
	Enumerated int64
	MostCells  int
	// Totals is how many pairs of a state and a way the exact bound of joined servers looks at for a unit of effort, in other than
	// the paper's P2, after TotalRounds of its descent. Row "joined servers".
	Totals      float64
	TotalRounds int
	// Packed is how many of the best choices for joined servers are placed, until one has found room. Rows "choices" and "placing".
	Packed int
	// ProgramNodes is how many nodes of the linear program of a small instance a unit of effort pays for, times the square of its
	// rows; where they are less than FewestNodes there are none. Rows "program" and "fewest nodes".
	ProgramNodes, FewestNodes float64
}

// Phases say how the work of annealing is spent.
type Phases struct {
	// WarmUp is the part of the work done before there are prices, since the step rule of the root bound
	// needs an incumbent; it is done up to WarmUps times while there is none. Less of it leaves instances
	// with tight minima without an incumbent, more takes work from where prices guide it.
	WarmUp  float64
	WarmUps int
	// Polish is the part of the work done at the end at no temperature, for what is preferred among
	// equals; MostPolish bounds it after a search of sets, where nothing else anneals. Row "polish".
	Polish, MostPolish float64
	// ShortStart is how much work for each server and application a start takes, times the number of
	// starts: more starts find other sets of freed applications, longer ones pack better. FreshStart is
	// the same where nobody may be exchanged. Row "starts".
	ShortStart, FreshStart float64
	// Agreeing is how many starts must come to the best utilization for the rest to be saved.
	Agreeing int
	// StartServers is up to how many servers several starts are made: with more each would be too short.
	StartServers int
}

// Annealing says how a move is made and judged. Temperatures and hopes are in mean values of a container.
type Annealing struct {
	// Hot is the first temperature; it is halved Halvings times: hotter searches wider, colder packs
	// better.
	Hot      float64
	Halvings float64
	// Heavier is the factor by which penalties grow while no solution is found.
	Heavier float64
	// RepairMoves is how many moves an exchange of sets gets to recover, Hope how far behind it may be at
	// first: judged at once hardly any exchange would be kept. Row "repair".
	RepairMoves int
	Hope        float64
	// WorthWork and WorthRepair take the place of Work and RepairMoves where numbers of containers have worths of their
	// own: each application is then a type by itself, which makes a move dear, and concave worths forgive a container in
	// the wrong place. With more servers and applications than WorthCrowd together there are fewer for each, by the square
	// root, and with less of them more.
	WorthWork, WorthCrowd float64
	WorthRepair           int
	// MostCandidates bounds the types that one fill looks at, and Homes how many servers a container
	// without a place tries: a move stays cheap on large clusters.
	MostCandidates, Homes int
	// LeastWorth is the part of its value that a container is worth at any price: prices that are too high
	// do not leave room unused. Row "least worth".
	LeastWorth float64
	// PriceShares are the parts of the prices, on loss too, that a fill may charge: none makes it greedy,
	// nearly all keeps what is scarce for those that need it. Row "prices".
	PriceShares []float64
}

// Sets says how the walk over sets of freed applications moves. Row "sets".
type Sets struct {
	// Tries is how many sets it judges for a unit of effort and five adjustments.
	Tries float64
	// Slack is how far below the last set, relative, a set may be and still be walked on from, SlackUnits the same in
	// mean values of a container: the lesser one holds, the latter on large clusters, where 0.3 % of the utilization is
	// many containers. Row "slack of a container".
	Slack, SlackUnits float64
	// A climb exchanges one in Stride of the budget of adjustments at first before it judges: more of them are out of
	// date at the prices of the set, fewer take more sets to come as far. 0: no climb. Row "climb".
	Stride int64
}

// Tree says how branch and bound spends its rounds.
type Tree struct {
	// RootRounds are the rounds of the descent at the root, in RootTries parts after each of which its set is
	// tried; NodeRounds those at another node of the decomposition, and PriceRounds with prices by server.
	// More rounds rule out more, fewer see more nodes. One try in place of four costs the recorded decisions 0.0003
	// points of gap.
	RootRounds, RootTries, NodeRounds, PriceRounds int
	// Visits is how often a node is bounded again after scores have fixed some of its applications. Once costs the recorded
	// decisions 0.0014 points of gap.
	Visits int
	// Aim is the target of the step rule in parts of the incumbent: at 1 the steps are too short.
	Aim float64
	// Recent is from how many earlier nodes a node may take its first multipliers. Row "recent".
	Recent int
}

// Limits says when and how branch and bound limits the use of a kind. Row "limits".
type Limits struct {
	// Size is how large, in parts of the tree without limits, one with limits is.
	Size float64
	// LeastUnit is what a unit of a kind must add to the utilization, in parts of the gap, for its use to be
	// branched on: with less, a part of a unit is hardly the reason for the gap. With 0 the recorded decisions are left with
	// ten times the gap.
	LeastUnit float64
	// Whole is how near to a whole unit the mean use of a kind counts as whole.
	Whole float64
	// Surcharge is where the multiplier of a limit starts, and SurchargeScale its scale, in what a unit
	// adds to the utilization.
	Surcharge, SurchargeScale float64
	// LimitRounds are the rounds at a node with a new limit, whose best multipliers are far from those of its
	// parent.
	LimitRounds int
}

// Ceilings says how instances with ceilings of groups are solved.
type Ceilings struct {
	// Tried is how many ways to fill one ceiling the bound with kept ceilings looks at before it goes by prices: nearly
	// all ceilings of a few applications take some dozens. Row "kept ceilings".
	Tried int
	// Divided is the part of the effort for a search below maxima that hold the ceilings, where servers have lists of
	// patterns. Row "maxima".
	Divided float64
	// Near is how far from the bound, in mean values of a container, a search of a fresh cluster may end that has begun
	// below maxima: what is left is mostly the bound's, which no more work closes, as there is no branch and bound. Row
	// "near".
	Near float64
}

// Options says how instances with options of applications are solved.
type Options struct {
	// Looks is how many options beside those that prices prefer are looked at for a unit of effort, each by a Quick
	// solution. Vain, for a unit of effort and divided by the pairs of application and server, is after how many in a row
	// that were no better the looks end: where each is cheap all are taken.
	Looks, Vain float64
}

// Standard returns the numbers that every solver has.
func Standard() *Numbers {
	return &Numbers{
		Budgets: Budgets{
			Rounds: 100_000, FewestRounds: 30, MostRounds: 400,
			Nodes: 40_000, Subproblems: 50, States: 50,
			RestSubproblems: 40_000, RestStates: 100, RestPatterns: 400_000,
			Work: 120, FreshWork: 40, CeilingWork: 22, DividedWork: 5, Crowd: 833, MostEffort: 2000, Filled: 20_000, Enumerated: 2000, MostCells: 30,
			Totals: 10_000, TotalRounds: 60, Packed: 8, ProgramNodes: 100_000, FewestNodes: 300,
		},
		Phases: Phases{
			WarmUp: 0.03, WarmUps: 4, Polish: 0.1, MostPolish: 100_000,
			ShortStart: 150, FreshStart: 1500, Agreeing: 2, StartServers: 200,
		},
		Annealing: Annealing{
			Hot: 1, Halvings: 10, Heavier: 4, RepairMoves: 100, Hope: 12, WorthWork: 20, WorthCrowd: 60, WorthRepair: 10,
			MostCandidates: 40, Homes: 12, LeastWorth: 0.01, PriceShares: []float64{0, 0.5, 0.8, 0.95},
		},
		Sets: Sets{Tries: 3, Slack: 0.003, SlackUnits: 2, Stride: 8},
		Tree: Tree{RootRounds: 100, RootTries: 4, NodeRounds: 12, PriceRounds: 25, Visits: 3, Aim: 0.997, Recent: 8},
		Limits: Limits{
			Size: 3, LeastUnit: 0.3, Whole: 0.1, Surcharge: 0.95, SurchargeScale: 0.3, LimitRounds: 150,
		},
		Ceilings: Ceilings{Tried: 5000, Divided: 0.25, Near: 0.04},
		Options:  Options{Looks: 0.2, Vain: 700},
	}
}
