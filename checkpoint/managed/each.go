// This file implements Each: calls to a cluster manager, which mostly wait, go side by side.

package managed

import "sync"

// Each calls do with the numbers below n, so many at the same time, and returns the error of each. It returns when all have.
func Each(n, together int, do func(i int) error) []error {
	errs := make([]error, n)
	room := make(chan struct{}, together)
	var under sync.WaitGroup
	for i := range n {
		room <- struct{}{}
		under.Go(func() {
			defer func() { <-room }()
			errs[i] = do(i)
		})
	}
	under.Wait()
	return errs
}
