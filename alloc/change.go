// This file holds a change of a cluster: what an event is told as, and what "what if" supposes.

package alloc

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apportion/apportion"
)

// Change is one thing that is otherwise in a problem: exactly one of its fields is set.
type Change struct {
	// Arrive is a new application, the last in the order of submission; Update one that is there already, as it is from now on.
	Arrive *Application `json:"arrive,omitempty"`
	Update *Application `json:"update,omitempty"`
	// End is the ID of an application that is no more, with what it had.
	End *string `json:"end,omitempty"`
	// Join is a new server. Lose is the ID of one that is gone, Cordon of one to which nothing new comes and which those leave that can,
	// Uncordon of one that is open again.
	Join     *apportion.Server `json:"join,omitempty"`
	Lose     *string           `json:"lose,omitempty"`
	Cordon   *string           `json:"cordon,omitempty"`
	Uncordon *string           `json:"uncordon,omitempty"`
	// Set changes what the problem says beside its servers and applications.
	Set *Settings `json:"set,omitempty"`
}

// Settings are those of a problem that a Change may set; nil: it stays.
type Settings struct {
	Theta1  *float64 `json:"theta1,omitempty"`
	Theta2  *float64 `json:"theta2,omitempty"`
	Preempt *bool    `json:"preempt,omitempty"`
}

// changeVerbs are the fields of a change.
var changeVerbs = []string{"arrive", "update", "end", "join", "lose", "cordon", "uncordon", "set"}

// verbs returns the fields that are set.
func (c *Change) verbs() (set []string) {
	for v, is := range []bool{c.Arrive != nil, c.Update != nil, c.End != nil, c.Join != nil, c.Lose != nil, c.Cordon != nil, c.Uncordon != nil, c.Set != nil} {
		if is {
			set = append(set, changeVerbs[v])
		}
	}
	return set
}

// After returns p as it is after the changes, one after the other. p is read and not changed, and shares with the answer what the changes do not
// touch. What runs of an application that ends is gone with it. Errors: apportion.Faults, in which a field names the change by its
// number behind field, where that is not empty: not just one field that is set (apportion.ErrConflict), a name that the problem does not have
// (ErrUnknown), a server that joins in the name of one that is lost by the same changes (ErrConflict). Whether the answer is a problem that is
// right is for Validate to say.
func (p *Problem) After(changes []Change, field string) (*Problem, error) {
	next := *p
	next.Servers, next.Applications, next.Previous = slices.Clone(p.Servers), slices.Clone(p.Applications), maps.Clone(p.Previous)
	lost := make(map[string]bool)
	var faults apportion.Faults
	for n := range changes {
		c := &changes[n]
		// Containers that stood on a lost server would seem to run on the one that comes in its name.
		if c.Join != nil && lost[c.Join.ID] {
			faults.Add(apportion.Item{Kind: "server", ID: c.Join.ID}, changePath(field, n, "join"), apportion.ErrConflict, "it is lost by the same changes: join it by the next")
			continue
		}
		if c.Lose != nil {
			lost[*c.Lose] = true
		}
		if fault := c.apply(&next); fault != nil {
			fault.Field = changePath(field, n, fault.Field)
			faults = append(faults, fault)
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return &next, nil
}

// changePath is where a field of a change stands; list is empty where changes stand in no list.
func changePath(list string, n int, field string) string {
	if list == "" {
		return field
	}
	return strings.TrimSuffix(fmt.Sprintf("%s[%d].%s", list, n, field), ".")
}

// check returns what is wrong with the change by itself.
func (c *Change) check() *apportion.FieldError {
	if set := c.verbs(); len(set) != 1 {
		return &apportion.FieldError{Err: apportion.ErrConflict, Detail: fmt.Sprintf("%q are set, and one of %q must be", set, changeVerbs)}
	}
	for _, name := range []*string{c.End, c.Lose, c.Cordon, c.Uncordon} {
		if name != nil && *name == "" {
			return &apportion.FieldError{Field: c.verbs()[0], Err: apportion.ErrEmpty}
		}
	}
	return nil
}

// apply changes p, whose lists are its own.
func (c *Change) apply(p *Problem) *apportion.FieldError {
	if fault := c.check(); fault != nil {
		return fault
	}
	switch {
	case c.Arrive != nil:
		p.Applications = append(p.Applications, *c.Arrive)
	case c.Update != nil:
		at := slices.IndexFunc(p.Applications, func(a Application) bool { return a.ID == c.Update.ID })
		if at < 0 {
			return unknownIn("application", c.Update.ID, "update")
		}
		p.Applications[at] = *c.Update
	case c.End != nil:
		return p.end(*c.End)
	case c.Join != nil:
		p.Servers = append(p.Servers, *c.Join)
	case c.Lose != nil:
		at := p.serverNamed(*c.Lose)
		if at < 0 {
			return unknownIn("server", *c.Lose, "lose")
		}
		p.Servers = slices.Delete(p.Servers, at, at+1)
	case c.Cordon != nil:
		return p.cordon(*c.Cordon, "cordon", true)
	case c.Uncordon != nil:
		return p.cordon(*c.Uncordon, "uncordon", false)
	default:
		c.Set.apply(p)
	}
	return nil
}

// end takes an application out, with what it has: another of its name is another application.
func (p *Problem) end(name string) *apportion.FieldError {
	at := slices.IndexFunc(p.Applications, func(a Application) bool { return a.ID == name })
	if at < 0 {
		return unknownIn("application", name, "end")
	}
	p.Applications = slices.Delete(p.Applications, at, at+1)
	delete(p.Previous, name)
	return nil
}

func (p *Problem) cordon(name, field string, cordoned bool) *apportion.FieldError {
	at := p.serverNamed(name)
	if at < 0 {
		return unknownIn("server", name, field)
	}
	p.Servers[at].Cordoned = cordoned
	return nil
}

// serverNamed returns the position of a server, -1: there is none of that name.
func (p *Problem) serverNamed(name string) int {
	return slices.IndexFunc(p.Servers, func(s apportion.Server) bool { return s.ID == name })
}

// unknownIn is the fault of a name that the problem does not have.
func unknownIn(kind, name, field string) *apportion.FieldError {
	return &apportion.FieldError{Item: apportion.Item{Kind: kind, ID: name}, Field: field, Err: apportion.ErrUnknown}
}

// apply changes the settings of p.
func (s *Settings) apply(p *Problem) {
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
