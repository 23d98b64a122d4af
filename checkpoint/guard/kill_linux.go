// This file implements the end of all that descends from this process.

package guard

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/apportion/apportion/checkpoint/internal/proc"
)

// errLate: the lease was over before the trainer could be started. Another attempt may run by then.
var errLate = errors.New("the lease is over")

// killDescendants kills every process that descends from this one, until none is left: orphans come to this process, so
// none can get away. It looks without a limit, every millisecond; each look reads all of /proc.
func killDescendants() {
	killFound(func() ([]int, error) { return proc.Descendants(os.Getpid()) })
}

// killFound kills what a look finds, until two in a row find nobody: a process that was just forked may not be listed yet when its
// parent is gone.
func killFound(look func() ([]int, error)) {
	for quiet := 0; quiet < 2; time.Sleep(time.Millisecond) {
		found, err := look()
		if err != nil {
			return // without /proc nobody is found
		}
		quiet++
		for _, pid := range found {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended just now
			quiet = 0
		}
	}
}
