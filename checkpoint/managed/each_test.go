// This file tests that calls go side by side, and no more of them than may.

package managed

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		began := time.Now()
		errs := Each(10, 4, func(i int) error {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(time.Second)
			if i%2 == 1 {
				return fmt.Errorf("%d", i)
			}
			return nil
		})
		for i, err := range errs {
			if i%2 == 0 && err != nil || i%2 == 1 && (err == nil || err.Error() != fmt.Sprint(i)) {
				t.Errorf("%d: %v", i, err)
			}
		}
		if took := time.Since(began); len(errs) != 10 || most.Load() != 4 || took != 3*time.Second {
			t.Errorf("%d calls, up to %d at the same time, in %v", len(errs), most.Load(), took)
		}
	})
}
