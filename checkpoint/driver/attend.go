// This file implements what a driver waits for before it begins an attempt: a journal that has lost its end does not know what
// runs, and only the servers can say so.

package driver

import "time"

// attend lets attempts begin once every server on record, and every other that has called meanwhile, has answered or been silent
// for the grace: what a journal does not know of has been told by then, or has ended. It reports whether they may. It belongs to
// the loop.
func (d *Driver) attend() bool {
	if d.mayBegin() {
		return true
	}
	if !d.members.complete(time.Now(), d.config.Grace) {
		return false
	}
	close(d.heard)
	return true
}

func (d *Driver) mayBegin() bool {
	select {
	case <-d.heard:
		return true
	default:
		return false
	}
}

// calls notes that a server wants to join, and answered that it has answered.
func (ms *members) calls(id string) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if ms.called == nil {
		ms.called = map[string]time.Time{}
	}
	// Its grace begins with the first call.
	if _, known := ms.called[id]; !known {
		ms.called[id] = time.Now()
	}
}

func (ms *members) answered(id string) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	delete(ms.called, id)
}

// complete reports whether nobody is waited for: all agents have joined but those that were given up, and none of those that
// have called is expected to answer yet.
func (ms *members) complete(now time.Time, grace time.Duration) bool {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	for _, m := range ms.all {
		if m.agent == nil {
			return false
		}
	}
	for _, since := range ms.called {
		if now.Sub(since) <= grace {
			return false
		}
	}
	return true
}
