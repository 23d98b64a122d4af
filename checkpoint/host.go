// This file declares Host: all that is known of one server.

package checkpoint

import (
	"time"

	"github.com/apportion/apportion"
)

// Host is the state of one server, as the journal keeps it.
type Host struct {
	apportion.Server
	// Incarnation names the memory of the server's agent, see [ServerUp]; empty: it has none.
	Incarnation string `json:"incarnation,omitempty"`
	// Silent says that the server does not answer: what is there may run on, and nothing is started there.
	Silent bool `json:"silent,omitempty"`
	// Draining says that no target may name the server, see [Drain].
	Draining bool `json:"draining,omitempty"`
	// Detail says why the server is Cordoned, see [Cordon]; Until is when that ends by itself, zero: never.
	Detail string    `json:"detail,omitempty"`
	Until  time.Time `json:"until,omitzero"`
}

// Clone returns a copy that shares nothing with h.
func (h *Host) Clone() Host {
	c := *h
	c.Capacity = h.Capacity.Clone()
	return c
}
