// This file names what keeps an application off the servers.

package alloc

// The causes of an apportion.Blocker. The causes of single servers, in the order in which they are looked at there:
const (
	// ByLabel: the labels do not satisfy Label.
	ByLabel = "label"
	// ByCordon: nothing new may come.
	ByCordon = "cordon"
	// BySize: the server is too small for one container, also where it is empty.
	BySize = "size"
	// ByReservation: there is room, and it is kept for Applications.
	ByReservation = "reservation"
	// ByRoom: less of Kind is free than one container takes.
	ByRoom = "room"
	// ByServersInUse: it is on as many servers as it may be, and not on these.
	ByServersInUse = "servers in use"
	// ByPerServer: more containers would have room than may be on one server.
	ByPerServer = "containers per server"
	// ByNumber: there is room for some of the containers, and for no more.
	ByNumber = "number"
)

// The causes of all servers together:
const (
	// ByCounts: no number of containers is within bounds, step and counts.
	ByCounts = "counts"
	// ByCeiling: the ceiling of Queue leaves Free of Kind.
	ByCeiling = "ceiling"
	// ByMaxServers: there is room on more servers than it may be on.
	ByMaxServers = "max servers"
	// ByDomain: no domain of the level Label has room for more than Fits, nor for more than Limit when it is empty.
	ByDomain = "domain"
	// ByBudget: others could make room, at a cost of Need against the budget (16), of which Free is left.
	ByBudget = "adjustment budget"
	// ByFairness: the fairness loss would be above its budget (15).
	ByFairness = "fairness budget"
	// ByPin: what is pinned has Free of Kind.
	ByPin = "pin"
	// ByMinRun: what has changed within Options.MinRun has Free of Kind.
	ByMinRun = "min run"
	// ByGuarantee: what other queues are guaranteed keeps their applications from giving Free of Kind.
	ByGuarantee = "guarantee"
	// ByPreempt: preemptible applications of lower priority have Free of Kind, and may not be suspended.
	ByPreempt = "preempt"
	// ByBroken: what was reserved for it was open to Applications.
	ByBroken = "broken reservation"
)
