// This file holds what a caller asks: Problem with its Applications, the Options of each, an Allocation, and the
// options for the readings of the paper, [Dorm §III-B, §IV].

package alloc

import (
	"encoding/json"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
)

// Problem is one decision to take: the cluster, the applications that want containers, and what is
// running now. The zero value is no problem, since it has no Kinds; Validate says what a problem must be. In JSON fields
// have the names in their tags, and the command reads the same form.
type Problem struct {
	// Kinds names the kinds of resources; at least one.
	Kinds apportion.Kinds `json:"kinds"`
	// Derived are kinds that are counted from others, as gpu_equivalent = 10 t4 + 38 a100: they count in shares, guarantees and levels
	// of queues in place of their parts, and in ceilings beside them. Vectors of Queues have a quantity of each behind those of Kinds.
	Derived []drf.Derived `json:"derived,omitzero"`
	// Compact names the kinds that are scarce, and should lie close: a container of an application that uses one of them is worth its share of
	// these alone, unless Options.Worth says otherwise, and servers beyond the fewest cost it something. nil: none. It has no effect with Rule.Paper.
	Compact []string `json:"compact,omitzero"`
	// Servers are the machines that may hold containers. A server that is gone may be left out, or stay
	// in the list with capacity zero.
	Servers []apportion.Server `json:"servers"`
	// Topology names the labels of servers that say in which domain a server is, from the widest to the narrowest, as zone and rack:
	// different ones, at most domain.MaxLevels. A domain is the path of labels from the widest on. nil: there are no domains.
	Topology []string `json:"topology,omitzero"`
	// Applications is A^t: every application that runs or waits, in the order of submission. Those in
	// Previous that are not here have finished.
	Applications []Application `json:"applications"`
	// Queues are a tree, to whose ends applications belong by their Queue: it gives the theoretical shares, and
	// ceilings that hold (G). Empty: all applications share alike. A ceiling may be below what is used now.
	Queues []drf.Queue `json:"queues,omitempty"`
	// Previous is what is running now; nil: nothing. It may name servers that are not in the list, or
	// hold more on a server than that has left: machines fail and shrink.
	Previous Allocation `json:"previous,omitzero"`
	// Reservations are those of the last decision; nil: none. Where there are several choices of what to reserve it stays what it is.
	// What names an application or a server that is not here has no effect.
	Reservations []Reservation `json:"reservations,omitzero"`
	// Settled is that of the last decision; nil: nothing is known of one. Where the question is the same the budget (16) is not given
	// anew, and where the answer runs and nothing is owed that is the answer again ([Program §11]). It has no effect with Rule.Paper.
	Settled *Settled `json:"settled,omitempty"`
	// Theta1 in [0, 1] is which part of the theoretical shares may be lost together (15), but no less than what whole containers
	// cost; 1 is no limit. With Rule.Paper it is the part of the largest possible fairness loss.
	Theta1 float64 `json:"theta1"`
	// Theta2 in [0, 1] is the share of running applications that one decision may adjust by its own
	// will (16), weighed by their AdjustCost. Those that cannot stay as they are do not count.
	Theta2 float64 `json:"theta2"`
	// Options chooses among the readings of the paper; the zero value is the recommended one.
	Options Options `json:"options,omitzero"`
}

// Application is Dorm's submission: the 6-tuple (executor, d, w, n^max, n^min, cmd) and a name.
type Application struct {
	// ID names the application; not empty, unique among Applications.
	ID string `json:"id"`
	// Executor is the engine that runs its tasks, for instance "MxNet". Not interpreted.
	Executor string `json:"executor,omitempty"`
	// Form is how it runs, where it has no Options.
	Form
	// Weight scales its fair share; positive and finite. In JSON a weight that is absent is 1.
	Weight float64 `json:"weight"`
	// PerServer is how many of its containers may be on one server, 1 for anti-affinity; 0: as many as
	// fit.
	PerServer int64 `json:"per_server,omitzero"`
	// MaxServers is on how many servers its containers may be; 0: on any number.
	MaxServers int64 `json:"max_servers,omitzero"`
	// Within is a label of Topology: all of its containers are in one domain of that level, or it has none. What runs goes on in its
	// domain, unless all of it moves. Empty: they may be in any.
	Within string `json:"within,omitempty"`
	// Slices are groups of its containers that are each in one domain; nil: there are none. P2 keeps their number and places as
	// admission has chosen them.
	Slices *Slices `json:"slices,omitempty"`
	// Prefer is a label of Topology: where its containers are placed anew they are in the fewest domains of the widest level that have
	// room for them, of these in the fewest of the next, and so on down to this one. Each domain beyond those that it would need on empty
	// servers costs as SpreadCost says of a server, and with fewer containers it has none where that is worth more. Empty: it does not matter.
	Prefer string `json:"prefer,omitempty"`
	// Pinned: it must stay exactly as it is, for instance because it was just started or is being saved.
	// Where it cannot stay it is moved all the same. It has no effect on one that does not run.
	Pinned bool `json:"pinned,omitempty"`
	// Preemptible: it may be suspended for one of higher Priority, see Options.Preempt.
	Preemptible bool `json:"preemptible,omitempty"`
	// AdjustCost is what changing its containers counts against the budget (16), 0 or more; nil means 1. A caller whose jobs
	// start with few containers states Most rather than 0 here: with a small Theta2 they would wait for their turn to grow as long as the
	// others are adjusted, and 0 lets them be moved as well.
	AdjustCost *int64 `json:"adjust_cost,omitempty"`
	// Most is the most containers that it ever had: growth beyond that, and beyond what it has, does not count against the budget (16). 0:
	// nobody knows, and all growth counts. It has no effect with Rule.Paper, nor on one that does not run.
	Most int64 `json:"most,omitzero"`
	// IdleWorth is what having none is worth, where Min is 0 and there is a Worth; 0: nothing.
	IdleWorth float64 `json:"idle_worth,omitzero"`
	// StayWorth is what staying exactly as it is is worth to one that runs: more than the worth of its number by what a
	// restart costs it; anything less than that worth: as much as its number. nil: a restart costs what RestartCost says.
	StayWorth *float64 `json:"stay_worth,omitempty"`
	// RestartCost is what a restart costs it, as Options.RestartCost says of all: of a job with a large state that is more than of a small
	// one. Finite and not negative; nil: what the options say. It has no effect with Rule.Paper.
	RestartCost *float64 `json:"restart_cost,omitempty"`
	// SpreadCost is which part of what its containers are worth is lost for each server that it is on beyond the fewest that could hold them,
	// but no less than one container is worth; of domains see Prefer. Finite and not negative, at most solver.MaxWorth. nil: 0.13 where it
	// uses a kind of Problem.Compact, else 0. It has no effect with Rule.Paper.
	SpreadCost *float64 `json:"spread_cost,omitempty"`
	// Options are the ways in which it may run, of which one is in use while it has containers, the one it would rather
	// have first: that gives its theoretical share. They stand in place of Form, of which Requires alone holds beside them.
	// Another option than the present one is an adjustment. nil: there is one way, as these fields say.
	Options []Option `json:"options,omitzero"`
	// Option is the ID of the option of what it has in Previous; empty: the first. With one that is not in Options it
	// cannot stay. It has no effect without Options.
	Option string `json:"option,omitempty"`
	// Queue is the ID of the queue that it belongs to, one without queues below it; empty: none, so that it shares with
	// the queues at the top.
	Queue string `json:"queue,omitempty"`
	// Priority orders admission before the order of submission: the highest first.
	Priority int64 `json:"priority,omitzero"`
	// Passed is what earlier decisions have let in past it, in parts of the cluster, as Waiting.Passed of the last one has it: not
	// negative. From Options.Patience on it is due. It has no effect on one that runs.
	Passed float64 `json:"passed,omitzero"`
	// Ends is how long it runs at most, from now or, where it waits, from its start, in any unit that all use: not negative. nil:
	// nobody knows, which is later than all that are known.
	Ends *float64 `json:"ends,omitempty"`
	// Held is how long it has had what it has, in the unit of Ends: not negative. nil: nobody knows, which is longer than Options.MinRun. It
	// has no effect on one that does not run.
	Held *float64 `json:"held,omitempty"`
	// Start and Resume are the commands, as argument vectors, that start the application and that
	// resume it from its saved state. Carried into the Plan, not interpreted.
	Start  []string `json:"start,omitzero"`
	Resume []string `json:"resume,omitzero"`
}

// Slices are groups of equally many containers, each of which is in one domain.
type Slices struct {
	// Containers is how many are in a group, positive. Numbers of containers are multiples of it: without Counts, and with a Step of 0,
	// it is the Step.
	Containers int64 `json:"containers"`
	// Within is the label of Topology whose domains they are in.
	Within string `json:"within"`
}

// Form is a way to run an application: what a container uses, where it may be, and how many there may be.
type Form struct {
	// Demand is what one container uses, in the units of Kinds; not zero in all of them.
	Demand apportion.Resources `json:"demand,omitempty"`
	// Requires is what the labels of its servers must satisfy, all of it, for an Option beside what its application
	// requires; nil: any server will do.
	Requires []apportion.Requirement `json:"requires,omitzero"`
	// Max and Min bound its containers: 0 <= Min <= Max and 1 <= Max. For an Option a Max of 0 is the last of Counts; where
	// one option has a Min of 0 its application may be without containers.
	Max int64 `json:"max,omitzero"`
	Min int64 `json:"min,omitzero"`
	// Step: the number of containers is a multiple of it; 0 means 1.
	Step int64 `json:"step,omitzero"`
	// Counts lists the numbers of containers that it may have, ascending, each positive; entries outside
	// [Min, Max] do not count. nil: every multiple of Step.
	Counts []int64 `json:"counts,omitzero"`
	// Worth is what its containers are worth by their number: one entry for each number above 0 that it may have,
	// ascending, of any shape, each finite and at most solver.MaxWorth. nil: as much as they add to the utilization (10), of
	// Problem.Compact alone where it uses one of these.
	Worth []float64 `json:"worth,omitzero"`
	// WorthOn is what its containers are worth by their number and that of their servers, in place of Worth: one list for each number, with
	// an entry for 1, 2, ... servers, of which the last counts for all beyond. nil: Worth says it.
	WorthOn [][]float64 `json:"worth_on,omitzero"`
	// Speed is how fast it runs by its number of containers, as Worth has one entry for each number; finite and not negative,
	// in one unit for all options, of which all state it or none. It counts with LossInWorth alone, as what an application
	// loses. nil: as fast as its share is large.
	Speed []float64 `json:"speed,omitzero"`
}

// Option is one way to run an application: on one kind of accelerator, or with containers of one size. Fields that are not
// here (Weight, PerServer, MaxServers, AdjustCost and the rest) are the application's, whichever option is in use.
type Option struct {
	// ID names the option; not empty, unique in its application.
	ID string `json:"id"`
	Form
}

// UnmarshalJSON reads an application; a weight that is absent is 1, one of 0 stays 0 and is for
// Problem.Validate to refuse. What the text leaves out is zero, whatever a held before.
func (a *Application) UnmarshalJSON(text []byte) error {
	type fields Application // without this method
	// The default stands before decoding, so that a weight in the text overwrites it and a null
	// leaves it.
	read := fields{Weight: 1}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	// A fresh value takes the place of a, because a decoder reuses the elements of a slice with
	// what they held.
	*a = Application(read)
	return nil
}

// Allocation maps an application's ID to a server's ID to its number of containers there, 0 or more. An entry
// of zero says the same as none. nil is an allocation in which nobody has anything.
type Allocation map[string]map[string]int64

// Containers returns how many containers the application called id holds in a, 0 where it is not there. Of an allocation that
// nobody has validated the sum may wrap around.
func (a Allocation) Containers(id string) int64 {
	var n int64
	for _, count := range a[id] {
		n += count
	}
	return n
}

// Clone returns a copy of a without entries of zero, which shares nothing with a.
func (a Allocation) Clone() Allocation {
	b := make(Allocation, len(a))
	for id, places := range a {
		for server, count := range places {
			if count == 0 {
				continue
			}
			if b[id] == nil {
				b[id] = make(map[string]int64, len(places))
			}
			b[id][server] = count
		}
	}
	return b
}

// Options chooses among the readings that the paper leaves open, and how the decision is taken. The zero value
// is what is recommended. They belong to the problem, not to a call, since a decision can be checked only together with
// them.
type Options struct {
	Rule
	// Order is the order in which applications are let in. It has no effect with Rule.Paper.
	Order OrderRule `json:"order,omitempty"`
	// Preempt lets an application that finds no room suspend preemptible ones: of its own queue those of lower Priority, of
	// others what is beyond their guarantees where its own queue stays within one. It has no effect with Rule.Paper.
	Preempt bool `json:"preempt,omitempty"`
	// ReclaimLevel lets it suspend, with Preempt, preemptible ones of other queues also where its own queue has, with it, no
	// higher a level than theirs without them: the largest part of the cluster over the weight.
	ReclaimLevel bool `json:"reclaim_level,omitempty"`
	// Patience is from when on an application is due, in multiples of its own least counts that were let in past it: finite and not
	// negative; nil means 1. With 0 it is due once anything was. It has no effect by submission, nor with Rule.Paper.
	Patience *float64 `json:"patience,omitempty"`
	// Reservations is for how many applications that are due room is kept at most, one a queue; nil means 1, and 0 is none.
	Reservations *int64 `json:"reservations,omitempty"`
	// Choose lets in those of one queue and priority first, of which none is due, that together use most of what is left, in place of
	// the order of submission. It has no effect with Rule.Paper.
	Choose bool `json:"choose,omitempty"`
	// RestartCost is what a voluntary adjustment takes from the objective, in parts of what the containers of the application are worth
	// beyond having none: finite and not negative; nil means 1/8, so that nothing is restarted for an eighth more. An application that
	// states StayWorth pays what that says. It has no effect with Rule.Paper.
	RestartCost *float64 `json:"restart_cost,omitempty"`
	// MinGain is what an adjustment takes at least, in containers of the application: finite and not negative. It has no effect where
	// RestartCost has none.
	MinGain float64 `json:"min_gain,omitzero"`
	// Moves is how many running applications a decision may move, beyond what is worth it and within the budget (16), to make room for larger
	// pieces of the compact kinds, as NewFragmentation plans it: not negative. It has no effect with Rule.Paper.
	Moves int64 `json:"moves,omitzero"`
	// MinRun is how long an application is left with what it has, in the unit of Application.Ends, unless it cannot stay, leaves a cordoned
	// server or has to make room by the guarantee of a queue: finite and not negative. It has no effect with Rule.Paper.
	MinRun float64 `json:"min_run,omitzero"`
	// Worth says which kinds the containers of an application that uses one of Problem.Compact are worth their shares of.
	Worth WorthRule `json:"worth,omitempty"`
	// Share is the rule behind the theoretical dominant share s^ of (2).
	Share ShareRule `json:"share,omitempty"`
	// Loss is what the fairness loss (2) is measured in.
	Loss LossMeasure `json:"loss,omitempty"`
}

// Rule says how near a decision keeps to the paper's words; the zero value decides always, and lets a part of the shares be lost.
type Rule struct {
	// Paper keeps everything as it is, and all newcomers waiting, where P2 with all of them has no
	// solution. An application that must move is charged to the budget (16) then, and the loss
	// budget (15) is what Theta1 says, also where no allocation can hold it. Without it a decision is
	// always possible, see Reallocate.
	Paper bool `json:"paper_rule,omitempty"`
	// AdmitPrefix softens Paper: the longest prefix of the queue is let in that leaves P2 feasible.
	AdmitPrefix bool `json:"admit_prefix,omitempty"`
	// Displace softens Paper: a Previous may name servers which are not in the list, or overfill one.
	// With Paper alone that is bad input.
	Displace bool `json:"displace,omitempty"`
	// NoCeil15 drops the ceiling printed in (15): the loss budget is Theta1 * 2m itself, m the number of kinds.
	NoCeil15 bool `json:"no_ceil_15,omitempty"`
	// NoCeil16 drops the ceiling printed in (16): with fewer than 1/Theta2 running applications
	// none may then be adjusted.
	NoCeil16 bool `json:"no_ceil_16,omitempty"`
}

// OrderRule says in which order applications are let in. The zero value is fair between queues.
type OrderRule string

// The rules, [Program §7].
const (
	// Fair (the zero value): first those with whom their queues stay within their guarantees, then queues by level, and in one
	// queue by Priority and submission.
	Fair OrderRule = ""
	// BySubmission: all by Priority and submission, whatever their queues have and are guaranteed.
	BySubmission OrderRule = "submission"
)

// ShareRule says how theoretical shares are computed; always on the pooled cluster, with every
// application in it that P2 is about: all that were taken in, or with Rule.Paper all of A^t that can be served.
// The zero value is the rule that is recommended, so that a problem without options is a complete
// one.
type ShareRule string

// The rules. Bounds differ from the plain rule wherever a minimum or a maximum is reached.
const (
	// BoundedDRF (the zero value) is divisible weighted DRF with each application held within Min
	// and Max. Without the bounds an application alone on a large cluster would have the share 1
	// and, capped by its Max, a fairness loss that makes P2 infeasible for ever.
	BoundedDRF ShareRule = ""
	// PureDRF is divisible weighted DRF without bounds.
	PureDRF ShareRule = "pure"
	// WholeDRF fills whole containers one by one, within Min and Max.
	WholeDRF ShareRule = "whole"
)

// WorthRule says of which kinds containers are worth their shares. The zero value is the rule that is recommended.
type WorthRule string

// The rules.
const (
	// WorthOfCompact (the zero value): of an application that uses a kind of Problem.Compact those kinds count alone.
	WorthOfCompact WorthRule = ""
	// WorthOfAllKinds: all kinds count, as in (10), whatever is compact.
	WorthOfAllKinds WorthRule = "all kinds"
)

// LossMeasure says in what the fairness loss of an application is measured. The zero value is the paper's.
type LossMeasure string

// The measures.
const (
	// LossInShares (the zero value) is |s_i - s^_i|, the distance of dominant shares (2). An application "loses" containers
	// that it could not use as well.
	LossInShares LossMeasure = ""
	// LossInWorth is |speed_i(n) / speed_i(fair) - 1|, the part of the speed with its fair number of containers, s^_i /
	// delta_i, that it lacks or has beyond it, by Application.Speed. Without Speed an application is as fast as its share
	// is large. Who is due nothing loses nothing. The budget (15) is then Theta1 times the applications:
	// in the mean each may be Theta1 away from its fair speed, and no less than what whole containers cost.
	LossInWorth LossMeasure = "worth"
)

// serverIndex maps the ID of every server to its position. Of two with one ID, which Validate refuses, the last counts.
func serverIndex(servers []apportion.Server) map[string]int {
	index := make(map[string]int, len(servers))
	for j, server := range servers {
		index[server.ID] = j
	}
	return index
}

// keysInto returns the keys of a map, ascending, in the memory of keys.
func keysInto(keys []string, of map[string]int64) []string {
	keys = keys[:0]
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// appIndex maps the ID of every application to its position.
func appIndex(apps []Application) map[string]int {
	// The map holds positions and no pointers, so that it stays right for a copy of the list.
	index := make(map[string]int, len(apps))
	for i := range apps {
		index[apps[i].ID] = i
	}
	return index
}
