// This file implements membership: which servers are there, and which of them have been silent for too long.

package driver

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/agent"
)

// member is a server and its agent.
type member struct {
	agent Agent // nil: none has joined yet; the server is known from the journal
	// gone ends when the server is lost, when another agent has joined for it, and with Run; end ends it.
	gone context.Context
	end  context.CancelFunc

	// mu guards what follows.
	mu sync.Mutex
	// Both are written by the goroutine that watches the agent and read by the loop and by orders.
	seen time.Time         // when it last answered
	last agent.Stamp       // the clock in that answer
	self agent.Incarnation // who that was
	over []agent.Ended     // jobs that it remembers and nobody else does
}

func newMember(life context.Context, a Agent) *member {
	// A member that has never answered counts as seen now, so that it has the whole grace to answer.
	m := &member{agent: a, seen: time.Now()}
	// All that waits for this member ends with it, and with the driver at the latest.
	m.gone, m.end = context.WithCancel(life)
	return m
}

func (m *member) met(s agent.Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// The time is that of the arrival here: the agent's clock and the driver's are never compared.
	m.seen, m.last, m.self = time.Now(), s.Clock, s.Incarnation
}

func (m *member) answered() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen
}

// known is the stamp to hand back, and who it is from.
// Handing back an older stamp than the newest is harmless: the lease ends earlier than it need.
func (m *member) known() (agent.Stamp, agent.Incarnation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last, m.self
}

// isAnother reports whether the member has an agent, and that is another process than the one that joins. Agents that
// have no name are taken at their word.
func (m *member) isAnother(joins agent.Incarnation) bool {
	if m == nil || m.agent == nil || joins.Life == "" {
		return false
	}
	_, self := m.known()
	return self.Life != joins.Life
}

// remembers notes which jobs an agent remembers that are forgotten, for the next question.
func (m *member) remembers(over []agent.Ended) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = over
}

func (m *member) forgotten() []agent.Ended {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.over
}

// members are all servers that are there, by ID. A server that is lost, and one for which another agent joins, gets
// a new member when it comes back: what still holds the old one sees that it is gone.
type members struct {
	mu  sync.Mutex
	all map[string]*member
	// called is since when servers want to join that have not answered this driver, until attempts may begin.
	called map[string]time.Time
}

// open begins with servers whose agents have not joined yet. Their silence counts from now on.
func (ms *members) open(life context.Context, servers []apportion.Server) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.all = map[string]*member{}
	for _, s := range servers {
		ms.all[s.ID] = newMember(life, nil)
	}
}

// get returns a member; nil: there is none.
func (ms *members) get(id string) *member {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	return ms.all[id]
}

// put puts a member in the place of the one before.
//
// The one before ends at once: its watch stops asking, and orders that wait for its agent look again.
func (ms *members) put(id string, m *member) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if before := ms.all[id]; before != nil {
		before.end()
	}
	ms.all[id] = m
}

func (ms *members) drop(ids []string) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	for _, id := range ids {
		if m := ms.all[id]; m != nil {
			m.end()
			delete(ms.all, id)
		}
	}
}

// silence is how long a server has given no answer, and whether its agent has joined at all.
type silence struct {
	server string
	silent time.Duration
	joined bool
}

// silences returns how long each server has given no answer, ascending by ID.
//
// Locks are taken in one order only, members before member, so that no two can wait for each other.
// O(servers log servers).
func (ms *members) silences(now time.Time) []silence {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	list := make([]silence, 0, len(ms.all))
	for _, id := range slices.Sorted(maps.Keys(ms.all)) {
		m := ms.all[id]
		m.mu.Lock()
		list = append(list, silence{id, now.Sub(m.seen), m.agent != nil})
		m.mu.Unlock()
	}
	return list
}
