// This file holds a change of a cluster: what "what-if" supposes, and what a session is told.

package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// change is one thing that is otherwise in a problem: exactly one of its fields is set.
type change struct {
	Arrive   *alloc.Application `json:"arrive,omitempty"`
	Update   *alloc.Application `json:"update,omitempty"`
	End      *id                `json:"end,omitempty"`
	Join     *apportion.Server  `json:"join,omitempty"`
	Lose     *id                `json:"lose,omitempty"`
	Cordon   *id                `json:"cordon,omitempty"`
	Uncordon *id                `json:"uncordon,omitempty"`
	Set      *settings          `json:"set,omitempty"`
}

// settings are those of a problem that may change; nil: it stays.
type settings struct {
	Theta1  *float64 `json:"theta1,omitempty"`
	Theta2  *float64 `json:"theta2,omitempty"`
	Preempt *bool    `json:"preempt,omitempty"`
}

// changeVerbs are the fields of a change.
var changeVerbs = []string{"arrive", "update", "end", "join", "lose", "cordon", "uncordon", "set"}

// verbs returns the fields that are set.
func (c *change) verbs() (set []string) {
	for v, is := range []bool{c.Arrive != nil, c.Update != nil, c.End != nil, c.Join != nil, c.Lose != nil, c.Cordon != nil, c.Uncordon != nil, c.Set != nil} {
		if is {
			set = append(set, changeVerbs[v])
		}
	}
	return set
}

// applyAll changes p, whose lists are its own then: the caller's stay as they were. A fault names the change by its number in the field,
// and p is of no use then.
func applyAll(p *alloc.Problem, changes []change, field string) error {
	p.Servers, p.Applications, p.Previous = slices.Clone(p.Servers), slices.Clone(p.Applications), maps.Clone(p.Previous)
	lost := make(map[string]bool)
	var faults apportion.Faults
	for n := range changes {
		c := &changes[n]
		// Containers that stood on a lost server would seem to run on the one that comes in its name.
		if c.Join != nil && lost[c.Join.ID] {
			faults.Add(apportion.Item{Kind: "server", ID: c.Join.ID}, path(field, n, "join"), apportion.ErrConflict, "it is lost by the same changes: join it by the next")
			continue
		}
		if c.Lose != nil {
			lost[string(*c.Lose)] = true
		}
		if fault := c.apply(p); fault != nil {
			fault.Field = path(field, n, fault.Field)
			faults = append(faults, fault)
		}
	}
	return faults.Err()
}

// path is where a field of a change stands; list is empty where changes stand in no list.
func path(list string, n int, field string) string {
	if list == "" {
		return field
	}
	return strings.TrimSuffix(fmt.Sprintf("%s[%d].%s", list, n, field), ".")
}

// apply changes p, whose lists are its own.
func (c *change) apply(p *alloc.Problem) *apportion.FieldError {
	if set := c.verbs(); len(set) != 1 {
		return &apportion.FieldError{Err: apportion.ErrConflict, Detail: fmt.Sprintf("%q are set, and one of %q must be", set, changeVerbs)}
	}
	switch {
	case c.Arrive != nil:
		p.Applications = append(p.Applications, *c.Arrive)
	case c.Update != nil:
		at := slices.IndexFunc(p.Applications, func(a alloc.Application) bool { return a.ID == c.Update.ID })
		if at < 0 {
			return unknown("application", c.Update.ID, "update")
		}
		p.Applications[at] = *c.Update
	case c.End != nil:
		return end(p, string(*c.End))
	case c.Join != nil:
		p.Servers = append(p.Servers, *c.Join)
	case c.Lose != nil:
		at := serverIn(p, string(*c.Lose))
		if at < 0 {
			return unknown("server", string(*c.Lose), "lose")
		}
		p.Servers = slices.Delete(p.Servers, at, at+1)
	case c.Cordon != nil:
		return cordon(p, string(*c.Cordon), "cordon", true)
	case c.Uncordon != nil:
		return cordon(p, string(*c.Uncordon), "uncordon", false)
	default:
		c.Set.apply(p)
	}
	return nil
}

// end takes an application out, with what it has: another of its name is another application.
func end(p *alloc.Problem, name string) *apportion.FieldError {
	at := slices.IndexFunc(p.Applications, func(a alloc.Application) bool { return a.ID == name })
	if at < 0 {
		return unknown("application", name, "end")
	}
	p.Applications = slices.Delete(p.Applications, at, at+1)
	delete(p.Previous, name)
	return nil
}

func cordon(p *alloc.Problem, name, field string, cordoned bool) *apportion.FieldError {
	at := serverIn(p, name)
	if at < 0 {
		return unknown("server", name, field)
	}
	p.Servers[at].Cordoned = cordoned
	return nil
}

// serverIn returns the position of a server, -1: there is none of that name.
func serverIn(p *alloc.Problem, name string) int {
	return slices.IndexFunc(p.Servers, func(s apportion.Server) bool { return s.ID == name })
}

// unknown is the fault of a name that the problem does not have.
func unknown(kind, name, field string) *apportion.FieldError {
	return &apportion.FieldError{Item: apportion.Item{Kind: kind, ID: name}, Field: field, Err: apportion.ErrUnknown}
}

// apply changes the settings of p.
func (s *settings) apply(p *alloc.Problem) {
	if s.Theta1 != nil {
		p.Theta1 = *s.Theta1
	}
	if s.Theta2 != nil {
		p.Theta2 = *s.Theta2
	}
	if s.Preempt != nil {
		p.Options.Preempt = *s.Preempt
	}
}

// String says what is otherwise, in words.
func (c *change) String() string {
	switch {
	case c.Arrive != nil:
		return "arrives: " + c.Arrive.ID
	case c.Update != nil:
		return "is otherwise: " + c.Update.ID
	case c.End != nil:
		return "ended: " + string(*c.End)
	case c.Join != nil:
		return "another server: " + c.Join.ID
	case c.Lose != nil:
		return "server lost: " + string(*c.Lose)
	case c.Cordon != nil:
		return "drained: " + string(*c.Cordon)
	case c.Uncordon != nil:
		return "open again: " + string(*c.Uncordon)
	case c.Set != nil:
		return "set: " + c.Set.String()
	}
	return "nothing"
}

// String writes the settings as the flag -set reads them.
func (s *settings) String() string {
	var list []string
	if s.Theta1 != nil {
		list = append(list, "theta1="+jsonNumber(*s.Theta1))
	}
	if s.Theta2 != nil {
		list = append(list, "theta2="+jsonNumber(*s.Theta2))
	}
	if s.Preempt != nil {
		list = append(list, "preempt="+strconv.FormatBool(*s.Preempt))
	}
	return strings.Join(list, ", ")
}
