// This file implements who an agent is: which memory it has, and which process it is.

package agent

import (
	"crypto/rand"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
)

// Incarnation tells agents apart that have one name: a configuration that was copied, a machine that was set up twice.
// Its names are drawn at random, so no two are ever the same.
type Incarnation struct {
	// Book names what the agent remembers, since the last boot of its machine. An agent that is started again has the
	// same. One that has lost its memory has another, and so has one on another machine with a copy of it: nothing that
	// is in the copy runs there.
	Book string `json:"book,omitempty"`
	// Life names the process of the agent.
	Life string `json:"life,omitempty"`
}

// otherBook is the Constraint of a Reason: an effect is for an agent of this name with another memory.
const otherBook = "book"

// meant reports whether a word for a memory is for this one. Masters that know none say so by no name.
func (i Incarnation) meant(book string) bool { return book == "" || book == i.Book }

// misled is the verdict on an effect that is for another agent. It is not refused, for no master was replaced.
func misled(e checkpoint.Effect) Verdict {
	return Verdict{Impossible, apportion.Reason{Constraint: otherBook, Applications: []string{e.Job},
		Text: "it is for another agent of this name, or for this one before it lost its memory"}}
}

// name returns the name of the book since a boot of the machine, and draws a new one where the book is from before it
// or from elsewhere. What that changes is durable when it returns.
func (b *Book) name(boot string) (string, error) {
	b.mu.Lock()
	if b.known.Name == "" || b.known.Boot != boot {
		b.known.Name, b.known.Boot = rand.Text(), boot
		b.version++
	}
	name := b.known.Name
	b.mu.Unlock()
	return name, b.Flush()
}
