// This file checks what a problem states about domains, and whether an allocation keeps to that, [Program §13]: by labels alone, with
// nothing of what has chosen the domains.

package alloc

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/internal/domain"
	"github.com/apportion/apportion/internal/check"
)

// checkTopology adds what is wrong with the levels, and with what applications ask of them.
func (p *Problem) checkTopology(faults *apportion.Faults) {
	seen := make(map[string]bool, len(p.Topology))
	for at, label := range p.Topology {
		field := "Topology[" + strconv.Itoa(at) + "]"
		switch {
		case label == "":
			faults.Add(apportion.Item{}, field, apportion.ErrEmpty, "")
		case seen[label]:
			faults.Add(apportion.Item{}, field, apportion.ErrDuplicate, strconv.Quote(label))
		case at >= domain.MaxLevels:
			faults.Add(apportion.Item{}, field, apportion.ErrRange, fmt.Sprintf("more than %d levels", domain.MaxLevels))
			return
		}
		seen[label] = true
	}
	for i := range p.Applications {
		if p.Applications[i].asksDomains() {
			p.checkDomains(faults, &p.Applications[i], check.Item("application", p.Applications[i].ID, i))
		}
	}
}

// checkDomains adds what is wrong with what one application asks of domains.
func (p *Problem) checkDomains(faults *apportion.Faults, app *Application, item apportion.Item) {
	slicesWithin := ""
	if app.Slices != nil {
		if slicesWithin = app.Slices.Within; slicesWithin == "" {
			faults.Add(item, "Slices.Within", apportion.ErrEmpty, "")
		}
		checkSlices(faults, app, item)
	}
	for _, f := range [...]struct{ field, label string }{{"Within", app.Within}, {"Slices.Within", slicesWithin}, {"Prefer", app.Prefer}} {
		if f.label == "" {
			continue
		}
		if !slices.Contains(p.Topology, f.label) {
			faults.Add(item, f.field, apportion.ErrUnknown, strconv.Quote(f.label)+" is no level of Topology")
		}
		if p.Options.Paper {
			faults.Add(item, f.field, apportion.ErrConflict, "the paper's rule knows no domains")
		}
	}
}

// checkSlices adds slices of no containers, and those that do not divide the numbers of containers.
func checkSlices(faults *apportion.Faults, app *Application, item apportion.Item) {
	const field = "Slices.Containers"
	size := app.Slices.Containers
	switch {
	case size < 0:
		faults.Add(item, field, apportion.ErrNegative, strconv.FormatInt(size, 10))
		return
	case size == 0:
		faults.Add(item, field, apportion.ErrRange, "slices of no containers")
		return
	}
	for _, e := range app.entriesOf() {
		numbers := e.numbers()
		if e.Min < 0 || e.Max < 1 || e.Step < 0 || e.Min > e.Max {
			continue // which is a fault of its own
		}
		for _, n := range e.Counts {
			if numbers.Allows(n) && n%size != 0 {
				faults.Add(item, field, apportion.ErrConflict, fmt.Sprintf("%d does not divide %d containers", size, n))
				return
			}
		}
		switch {
		case e.Counts == nil && e.step()%size != 0:
			faults.Add(item, field, apportion.ErrConflict, fmt.Sprintf("%d does not divide steps of %d", size, e.Step))
		case e.Counts == nil && numbers.AtLeast(1) < 0:
			faults.Add(item, field, apportion.ErrConflict, fmt.Sprintf("%d divides no number of containers in [%d, %d]", size, max(1, e.Min), e.Max))
		}
	}
}

// checkDomainsOf refuses an allocation whose containers are not in the domains that the applications ask for: by the labels of the
// servers, and nothing that a decision says or that has taken it.
func (p *Problem) checkDomainsOf(a Allocation) error {
	servers := serverIndex(p.Servers)
	for i := range p.Applications {
		app := &p.Applications[i]
		if fault := p.torn(app, a[app.ID], servers); fault != "" {
			return mismatch("Allocation", listIDs([]string{app.ID})+" "+fault)
		}
	}
	return nil
}

// torn says why the places of an application are not what it asks for; empty: they are.
func (p *Problem) torn(app *Application, places map[string]int64, servers map[string]int) string {
	if app.Within != "" {
		in, lacks := p.perDomain(app.Within, places, servers)
		if lacks || len(in) > 1 {
			return fmt.Sprintf("is not within one %s", app.Within)
		}
	}
	if app.Slices != nil {
		in, lacks := p.perDomain(app.Slices.Within, places, servers)
		for _, n := range in {
			lacks = lacks || n%app.Slices.Containers != 0
		}
		if lacks {
			return fmt.Sprintf("has slices of %d that are not within one %s each", app.Slices.Containers, app.Slices.Within)
		}
	}
	return ""
}

// perDomain counts the containers in each domain of a level, by its path of labels; lacks says that some are on a server without one of
// these labels.
func (p *Problem) perDomain(level string, places map[string]int64, servers map[string]int) (in map[string]int64, lacks bool) {
	in = make(map[string]int64)
	for id, n := range places {
		j, known := servers[id]
		if n == 0 || !known {
			continue
		}
		path := ""
		for _, label := range p.Topology {
			value, ok := p.Servers[j].Labels[label]
			lacks = lacks || !ok
			path += strconv.Quote(value)
			if label == level {
				break
			}
		}
		in[path] += n
	}
	return in, lacks
}

// tornText is torn for places by position.
func (r *resolved) tornText(i int, placed []apportion.Placement) string {
	if r.wishes[i] == nil || len(placed) == 0 {
		return ""
	}
	places, servers := make(map[string]int64, len(placed)), make(map[string]int, len(placed))
	for _, p := range placed {
		id := r.problem.Servers[p.Server].ID
		places[id], servers[id] = p.Count, p.Server
	}
	return r.problem.torn(&r.problem.Applications[i], places, servers)
}
