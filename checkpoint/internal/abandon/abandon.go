// This file implements Do: a call that may hang, and a caller that must not.

// Package abandon lets a caller go on when a disk, a store or a peer does not answer.
package abandon

import "context"

type outcome[T any] struct {
	value T
	err   error
}

// Do returns what call returns, or the zero value and the context's error as soon as the context ends.
// The call itself is then left alone: it runs on in its own goroutine until it returns, and what it
// returns is dropped. So call must do nothing that is wrong when it comes late.
func Do[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	// zero is what a caller gets with an error, so that no half of a late answer is ever used.
	var zero T
	// A context that has ended must begin nothing: select below would choose by chance between a quick
	// call and the end.
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	returned := make(chan outcome[T], 1) // room for one, so that an abandoned call can end
	go func() {
		value, err := call(ctx)
		returned <- outcome[T]{value, err}
	}()
	// If both are ready either may be taken: a call that comes in time at the last moment counts or
	// not.
	select {
	case o := <-returned:
		return o.value, o.err
	case <-ctx.Done():
		return zero, ctx.Err()
	}
}
