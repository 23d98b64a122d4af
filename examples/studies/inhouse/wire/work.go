// Package wire declares what master and agents of the in-house scheduler say to each other beside package checkpoint's
// words.
package wire

import "encoding/json"

// Work is what a job runs, the Spec of its orders: argument vectors, and the name of the engine that they are
// for.
type Work struct {
	Executor string   `json:"executor,omitempty"`
	Start    []string `json:"start"`
	Resume   []string `json:"resume"`
}

// ReadWork reads a Spec.
func ReadWork(spec json.RawMessage) (w Work, err error) {
	err = json.Unmarshal(spec, &w)
	return w, err
}

// Spec writes a Spec.
func (w Work) Spec() json.RawMessage {
	spec, _ := json.Marshal(w) // of strings, which cannot fail
	return spec
}
