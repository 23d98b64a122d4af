// This file shows how a store is tested, and how what uses a store is.

package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
)

// A store of one's own passes if this test does.
func ExampleRun() {
	testStore := func(t *testing.T) {
		storetest.Run(t, func(*testing.T) store.Store {
			return new(storetest.MemStore)
		})
	}
	_ = testStore // go test runs it under the name TestStore
}

// A commit whose answer is lost has happened: whoever tries again finds that it is done.
func ExampleFaulty_FailAt() {
	ctx := context.Background()
	mem := new(storetest.MemStore)
	s := storetest.NewFaulty(mem)
	save := func() error {
		w, err := s.Begin(ctx, "lr", 1)
		if err != nil {
			return err
		}
		_, err = w.Commit()
		return err
	}
	s.FailAt(2, storetest.After) // Begin is 1, Commit 2
	err := save()
	list, _ := mem.List(ctx, "lr")
	fmt.Println(errors.Is(err, storetest.ErrInjected), "checkpoints:", len(list))
	fmt.Println("again:", save())
	// Output:
	// true checkpoints: 1
	// again: <nil>
}
