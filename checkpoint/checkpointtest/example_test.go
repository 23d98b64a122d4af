// This file shows how a store is tested, and how what uses a store is.

package checkpointtest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/checkpointtest"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// A store of one's own passes if this test does.
func ExampleRunStore() {
	testStore := func(t *testing.T) {
		checkpointtest.RunStore(t, func(*testing.T) checkpoint.Store {
			return new(checkpointtest.MemStore)
		})
	}
	_ = testStore // go test runs it under the name TestStore
}

// A commit whose answer is lost has happened: whoever tries again finds that it is done.
func ExampleFaulty_FailAt() {
	ctx := context.Background()
	mem := new(checkpointtest.MemStore)
	store := checkpointtest.NewFaulty(mem)
	save := func() error {
		w, err := store.Begin(ctx, "lr", 1)
		if err != nil {
			return err
		}
		_, err = w.Commit()
		return err
	}
	store.FailAt(2, checkpointtest.After) // Begin is 1, Commit 2
	err := save()
	list, _ := mem.List(ctx, "lr")
	fmt.Println(errors.Is(err, vfs.ErrInjected), "checkpoints:", len(list))
	fmt.Println("again:", save())
	// Output:
	// true checkpoints: 1
	// again: <nil>
}
