// This file keeps what a new master must not decide again: for which jobs a host was chosen.

package specon

import (
	"maps"
	"slices"

	"github.com/apportion/apportion/examples/live/harness"
)

// notes is the file of a decider. What else it knows is learned anew from the jobs' curves.
type notes struct {
	// Decided are the jobs whose host was chosen, Rebalanced those of them that were moved to even things
	// out; ascending.
	Decided    []string `json:"decided,omitempty"`
	Rebalanced []string `json:"rebalanced,omitempty"`
}

func (n *notes) equal(o *notes) bool {
	return slices.Equal(n.Decided, o.Decided) && slices.Equal(n.Rebalanced, o.Rebalanced)
}

// recall takes in the notes of the master before, if there was one.
func (d *Decider) recall() error {
	if err := harness.ReadNotes(d.config.Notes, &d.noted); err != nil {
		return err
	}
	for _, job := range d.noted.Decided {
		d.marks[job] = &mark{decided: true, rebalanced: slices.Contains(d.noted.Rebalanced, job)}
	}
	return nil
}

// note writes down what has changed, before anybody acts on it.
func (d *Decider) note() error {
	var n notes
	for _, job := range slices.Sorted(maps.Keys(d.marks)) {
		if d.marks[job].decided {
			n.Decided = append(n.Decided, job)
		}
		if d.marks[job].rebalanced {
			n.Rebalanced = append(n.Rebalanced, job)
		}
	}
	if n.equal(&d.noted) {
		return nil
	}
	d.noted = n
	return harness.WriteNotes(d.config.Notes, &n)
}
