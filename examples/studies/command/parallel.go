// This file runs the independent parts of a study on all processors.

package command

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
)

// InParallel calls do with 0 to n-1 on all processors and shows the progress; doing says in a word what is
// done. The first error ends the context of the other calls, and no more are made. It returns the error of the
// lowest number, or that of ctx where that has ended.
func InParallel(ctx context.Context, n int, stderr io.Writer, doing string, do func(ctx context.Context, i int) error) error {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	tick := Progress(stderr, n, doing)
	faults := make([]error, n)
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				if faults[i] = do(within, i); faults[i] != nil {
					cancel()
				}
				tick()
			}
		})
	}
	for i := 0; i < n && within.Err() == nil; i++ {
		next <- i
	}
	close(next)
	workers.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, err := range faults {
		if err != nil && !errors.Is(err, context.Canceled) { // which only follows from another
			return err
		}
	}
	return nil
}

// Grid calls play for every row and column of a size on all processors, as InParallel does, and returns what it returned by row and column.
func Grid[T any](ctx context.Context, size [2]int, stderr io.Writer, doing string, play func(ctx context.Context, row, column int) (T, error)) ([][]T, error) {
	rows, columns := size[0], size[1]
	all := make([][]T, rows)
	for i := range all {
		all[i] = make([]T, columns)
	}
	return all, InParallel(ctx, rows*columns, stderr, doing, func(ctx context.Context, i int) (err error) {
		row, column := i/columns, i%columns
		all[row][column], err = play(ctx, row, column)
		return err
	})
}
