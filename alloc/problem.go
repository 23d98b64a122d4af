// This file holds what a caller asks: Problem, Application, Allocation and the options for the
// readings of the paper, [Dorm §III-B, §IV].

package alloc

import (
	"encoding/json"

	"github.com/apportion/apportion"
)

// Problem is one decision to take: the cluster, the applications that want containers, and what is
// running now.
type Problem struct {
	// Kinds names the kinds of resources; at least one.
	Kinds apportion.Kinds `json:"kinds"`
	// Servers are the machines that may hold containers; at least one. A server that is drained
	// or gone may stay in the list with capacity zero.
	Servers []apportion.Server `json:"servers"`
	// Applications is A^t: every application that runs or waits, in the order of submission; at
	// least one. Those in Previous that are not here have finished.
	Applications []Application `json:"applications"`
	// Previous is what is running now. nil: nothing.
	Previous Allocation `json:"previous,omitzero"`
	// Theta1 in [0, 1] is the share of the largest possible fairness loss that is tolerated (15).
	Theta1 float64 `json:"theta1"`
	// Theta2 in [0, 1] is the share of running applications that one decision may adjust (16).
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
	// Demand is what one container uses, in the units of Kinds; not zero in all of them.
	Demand apportion.Resources `json:"demand"`
	// Weight scales its fair share; positive and finite. In JSON a weight that is absent is 1.
	Weight float64 `json:"weight"`
	// Max and Min bound its containers: 0 <= Min <= Max and 1 <= Max.
	Max int64 `json:"max"`
	Min int64 `json:"min,omitzero"`
	// Start and Resume are the commands, as argument vectors, that start the application and that
	// resume it from its saved state. Carried into the Plan, not interpreted.
	Start  []string `json:"start,omitzero"`
	Resume []string `json:"resume,omitzero"`
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

// Allocation maps an application's ID to a server's ID to its number of containers there. An entry
// of zero says the same as none.
type Allocation map[string]map[string]int64

// Containers returns how many containers the application called id holds in a.
func (a Allocation) Containers(id string) int64 {
	var n int64
	for _, count := range a[id] {
		n += count
	}
	return n
}

// Clone returns a copy of a without entries of zero.
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

// Options chooses among the readings that the paper leaves open.
type Options struct {
	// Share is the rule behind the theoretical dominant share s^ of (2).
	Share ShareRule `json:"share,omitempty"`
	// NoCeil15 drops the ceiling printed in (15): the loss budget is Theta1 * 2m itself.
	NoCeil15 bool `json:"no_ceil_15,omitempty"`
	// NoCeil16 drops the ceiling printed in (16): with fewer than 1/Theta2 running applications
	// none may then be adjusted.
	NoCeil16 bool `json:"no_ceil_16,omitempty"`
	// AdmitPrefix lets the longest prefix of the queue in that leaves P2 feasible. Without it an
	// infeasible P2 keeps all newcomers waiting, as the paper has it, also those that would fit.
	AdmitPrefix bool `json:"admit_prefix,omitempty"`
	// Displace accepts a Previous that names servers which are not in the list, or that overfills
	// one: machines fail and shrink. Applications on a missing server must move and are charged to
	// the adjustment budget. Without it such a Previous is bad input.
	Displace bool `json:"displace,omitempty"`
}

// ShareRule says how theoretical shares are computed; always on the pooled cluster, with every
// application of A^t in it.
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

// serverIndex maps the ID of every server to its position.
func serverIndex(servers []apportion.Server) map[string]int {
	index := make(map[string]int, len(servers))
	for j, server := range servers {
		index[server.ID] = j
	}
	return index
}

// appIndex maps the ID of every application to its position.
func appIndex(apps []Application) map[string]int {
	index := make(map[string]int, len(apps))
	for i := range apps {
		index[apps[i].ID] = i
	}
	return index
}
