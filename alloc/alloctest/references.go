// This file reads the reference instances: P2 problems with the best answer that a general solver
// found.

package alloctest

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"sort"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/check"
)

//go:embed testdata/p2/*.json
var files embed.FS

// Reference is an instance and what HiGHS 1.15 found out about it with two threads in at most a
// minute.
type Reference struct {
	// Name is "mix_SERVERSxAPPLICATIONS_state_number": mix is table2 or mixed, state is fresh
	// (nothing runs) or prev (a full cluster, two applications new).
	Name     string
	Instance *solver.Instance
	// Objective is the utilization of the best solution found, Bound the proven upper bound.
	Objective, Bound float64
	// Relaxed says that the model pooled equal servers: Objective is then itself only an upper
	// bound, though one that is nearly always attainable.
	Relaxed bool
	// Seconds is how long that took.
	Seconds float64
}

// file is the form of testdata/p2.
//
// Names of fields are matched whatever their case; shares and budgets are stored, not recomputed,
// because the general solver was given these very numbers.
type file struct {
	Kinds        apportion.Kinds
	Servers      []apportion.Resources
	Applications []struct {
		Demand   apportion.Resources
		Max, Min int64
	}
	// application -> server -> containers, both as positions in text
	Previous         map[string]map[string]int64
	TheoreticalShare []float64 `json:"theoretical_share"`
	LossBudget       float64   `json:"loss_budget"`
	// absent in a fresh cluster, where nothing can be adjusted
	AdjustBudget *int64 `json:"adjust_budget"`
	Reference    struct {
		Model            string
		Objective, Bound float64
		Seconds          float64
	}
}

// References returns the 38 reference instances in the order of their names. Every call builds
// new ones.
//
// The bounds are those of a proven search, so that a solver of one's own is measured by its gap to
// them.
func References() []Reference {
	entries, err := files.ReadDir("testdata/p2")
	if err != nil {
		panic(err) // the files are part of the binary
	}
	references := make([]Reference, len(entries))
	for e, entry := range entries {
		data, err := files.ReadFile("testdata/p2/" + entry.Name())
		if err == nil {
			references[e], err = ReadReference(strings.TrimSuffix(entry.Name(), path.Ext(entry.Name())), data)
		}
		if err != nil {
			panic(fmt.Sprintf("alloctest: %s: %v", entry.Name(), err))
		}
	}
	return references
}

// ReadReference reads an instance from JSON as the files of this package have it, which are what [References]
// returns: so a solver is measured on instances of one's own too. "reference" may be left out where no solver has
// answered; Objective and Bound are 0 then. The error is that of the JSON, or [apportion.Faults] of what is no instance.
func ReadReference(name string, data []byte) (Reference, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return Reference{}, err
	}
	if err := f.check(); err != nil {
		return Reference{}, err
	}
	// Weights are not in the files, nor needed: shares are.
	claims := make([]claim, len(f.Applications))
	for i, a := range f.Applications {
		claims[i] = claim{demand: a.Demand, min: a.Min, max: a.Max}
	}
	inst := newInstance(f.Servers, claims)
	inst.LossBudget = f.LossBudget
	if f.AdjustBudget != nil {
		inst.AdjustBudget = *f.AdjustBudget
	}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		app.Share = f.TheoreticalShare[i]
		// An application runs where the file names it, which it does only with containers.
		previous, running := f.Previous[strconv.Itoa(i)]
		app.Cost = 1
		app.Running = running
		for server, count := range previous {
			j, err := strconv.Atoi(server)
			if err != nil {
				return Reference{}, err
			}
			app.Previous = append(app.Previous, apportion.Placement{Server: j, Count: count})
		}
		// A map has no order, and a Previous ascends by server.
		sort.Slice(app.Previous, func(a, b int) bool { return app.Previous[a].Server < app.Previous[b].Server })
	}
	if err := inst.Validate(); err != nil {
		return Reference{}, err
	}
	return Reference{
		Name: name, Instance: inst,
		Objective: f.Reference.Objective, Bound: f.Reference.Bound,
		Relaxed: f.Reference.Model == "class relaxation", Seconds: f.Reference.Seconds,
	}, nil
}

// check returns what would keep an instance from being made: vectors of another length than the kinds, or too large
// together, and a share too many or too few. What is wrong with an instance that can be made is for its Validate.
func (f *file) check() error {
	// Servers have no names in the files, and positions stand for them.
	var faults apportion.Faults
	servers := make([]apportion.Server, len(f.Servers))
	for j, capacity := range f.Servers {
		servers[j] = apportion.Server{ID: strconv.Itoa(j), Capacity: capacity}
	}
	check.Servers(&faults, f.Kinds, servers)
	for i := range f.Applications {
		check.Resources(&faults, f.Kinds, f.Applications[i].Demand, check.Item("application", "", i), "demand")
	}
	if len(f.TheoreticalShare) != len(f.Applications) {
		faults.Add(apportion.Item{}, "theoretical_share", apportion.ErrLength, fmt.Sprintf("%d for %d applications", len(f.TheoreticalShare), len(f.Applications)))
	}
	return faults.Err()
}
