// This file implements the name of the store: checkpoints are on record together with the medium that holds them.

package checkpoint

import (
	"fmt"

	"github.com/apportion/apportion"
)

// storeNamed refuses an empty name, and another one than that on record: a checkpoint that is not in a store which came into
// the place of another was not lost.
func (m *Machine) storeNamed(s StoreNamed) error {
	fault := &apportion.FieldError{Item: apportion.Item{Kind: "store", ID: s.ID}, Field: "ID"}
	switch {
	case s.ID == "":
		fault.Err = apportion.ErrEmpty
		return fault
	case m.store != "" && m.store != s.ID:
		fault.Err, fault.Detail = apportion.ErrConflict, fmt.Sprintf("the checkpoints are in store %s", m.store)
		return fault
	}
	m.store = s.ID
	return nil
}

// Store returns the identity of the store that the checkpoints are in; empty: nobody has named it yet.
func (m *Machine) Store() string { return m.store }
