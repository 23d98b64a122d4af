// This file checks that what is read in another store is not taken for what is in the right one.

package driver

import (
	"testing"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// A checkpoint that is whole in another store has not been verified.
func TestVerifyInAnotherStore(t *testing.T) {
	other := &storetest.MemStore{}
	must.Have(must.Have(storetest.Write(t.Context(), other, "lr", 3, "learnt"))(t).Commit())(t)
	d := &Driver{config: Config{Store: other}}
	e := checkpoint.Effect{Job: "lr", Checkpoint: 3}
	must.Do(t, d.verify(t.Context(), e))
	e.Store = string(store.NewIdentity())
	must.Err(t, d.verify(t.Context(), e), store.ErrIdentity)
}
