// This file holds what a job may ask of the labels of its servers.

package apportion

import (
	"slices"
	"strings"
)

// Requirement is a condition on the labels of a server.
type Requirement struct {
	// Key is the label that it is about; not empty.
	Key string `json:"key"`
	// Op says how the label is compared.
	Op Operator `json:"op"`
	// Values are what In and NotIn compare with, at least one; the other operators have none.
	Values []string `json:"values,omitzero"`
}

// Operator is how a Requirement compares a label.
type Operator string

// The operators. A server without the label satisfies NotIn and NotExists.
const (
	In        Operator = "in"
	NotIn     Operator = "not_in"
	Exists    Operator = "exists"
	NotExists Operator = "not_exists"
)

// Operators lists them all.
func Operators() []Operator { return []Operator{In, NotIn, Exists, NotExists} }

// Holds reports whether labels satisfy r, which must be valid.
func (r *Requirement) Holds(labels map[string]string) bool {
	value, exists := labels[r.Key]
	switch r.Op {
	case In:
		return exists && slices.Contains(r.Values, value)
	case NotIn:
		return !exists || !slices.Contains(r.Values, value)
	case Exists:
		return exists
	default:
		return !exists
	}
}

// Satisfies reports whether a server satisfies all of the requirements by its labels. A cordon does not count: it
// says what may come, not what suits.
func (s *Server) Satisfies(requires []Requirement) bool {
	for r := range requires {
		if !requires[r].Holds(s.Labels) {
			return false
		}
	}
	return true
}

// String returns for instance "zone in [a b]".
func (r *Requirement) String() string {
	text := r.Key + " " + strings.ReplaceAll(string(r.Op), "_", " ")
	if len(r.Values) > 0 {
		text += " [" + strings.Join(r.Values, " ") + "]"
	}
	return text
}
