// This file declares what the goroutines of one guard share.

package guard

import (
	"os"
	"sync"
	"time"

	"github.com/apportion/apportion/checkpoint/agent"
)

// guard is one run. Five goroutines share it: one attends to the keeper, and four renew, tell, look and record. They wake each
// other by channels that have room for one, since a second word of the same kind says nothing new.
type guard struct {
	config  Config
	life    string        // names this guard, in all its claims
	alarm   alarm         // goes off when the lease is over, though this process is stopped
	waker   alarm         // goes off again and again when nothing is left but the last words
	renewed chan struct{} // has room for one: the lease is longer than the keeper knows
	refused chan string   // has room for one: why the run must end
	saves   chan int64    // has room for one: a save that is asked for
	// news and requested have room for one: the authority should hear at once of what is known; a trainer was told to save.
	news, requested chan struct{}

	// mu guards what follows. Nothing slow is done while it is held: a disk or a network that hangs must not stop renewing.
	mu sync.Mutex
	// The lease is the newest that was granted, on this machine's clock; state is what the next claim says.
	lease agent.Lease
	asked int64 // the newest save that a grant has asked for
	state State
}

// change changes what is known of the run.
// how is called with the lock held: it copies and compares, and waits for nobody.
func (g *guard) change(how func(*State)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	how(&g.state)
}

func (g *guard) word() word {
	g.mu.Lock()
	defer g.mu.Unlock()
	return word{Boot: g.lease.Heard.Boot, Until: g.lease.Heard.At + g.lease.Length}
}

// lastWords is how long the end may take to be told, and to be written down. What hangs must not keep the guard.
const lastWords = 2 * time.Second

// stderr is where the trainer's errors go, and the guard's.
func (g *guard) stderr() *os.File {
	if g.config.Stderr != nil {
		return g.config.Stderr
	}
	return os.Stderr
}

// wake sends to a channel that has room for one, unless that is taken.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
