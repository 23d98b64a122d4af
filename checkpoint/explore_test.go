// This file explores a small world exhaustively: every interleaving of two jobs on two servers, with
// every fault at every moment, as far as budgets allow.

package checkpoint_test

import (
	"crypto/sha256"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

// node is a state of everything.
type node struct {
	m        *checkpoint.Machine
	w        *world
	inflight []checkpoint.Effect
	done     []checkpoint.Effect // done once; may arrive again
	replies  []checkpoint.Reply
	left     budget
}

// budget is what may still happen.
type budget struct{ Faults, Crashes, Ticks, Again, Kills, Losses, Cancels, Targets, Silences, Hurries, Drains, Stalls int }

func (n *node) moves(targets []map[string][]string) []*node {
	var next []*node
	try := func(spend func(*budget) *int, move func(*node)) {
		c := n.clone()
		if spend != nil {
			left := spend(&c.left)
			if *left == 0 {
				return
			}
			*left--
		}
		move(c)
		next = append(next, c)
	}
	for i := range n.inflight {
		try(nil, func(c *node) { c.perform(i) })
		try(func(b *budget) *int { return &b.Faults }, func(c *node) { c.lose(i) })
		try(func(b *budget) *int { return &b.Faults }, func(c *node) { c.refuse(i) })
		try(func(b *budget) *int { return &b.Faults }, func(c *node) { c.half(i) })
	}
	for i := range n.done {
		try(func(b *budget) *int { return &b.Again }, func(c *node) { c.w.perform(c.done[i], nil) })
	}
	for i := range n.replies {
		try(nil, func(c *node) { c.answer(i) })
	}
	if len(n.m.Due()) > 0 || n.left.Ticks > 0 && n.m.Look("a") != nil && !n.m.Look("a").Deadline.IsZero() {
		try(func(b *budget) *int { return &b.Ticks }, func(c *node) { c.tick() })
	}
	try(func(b *budget) *int { return &b.Crashes }, func(c *node) { c.crash() })
	if n.w.agents["s2"] != nil {
		try(func(b *budget) *int { return &b.Losses }, func(c *node) {
			c.w.fell("s2")
			c.step(checkpoint.ServerFenced{ID: "s2"})
		})
	}
	if n.w.agents["s2"] != nil && !n.w.deaf["s2"] {
		try(func(b *budget) *int { return &b.Silences }, func(c *node) {
			c.w.deaf["s2"] = true
			if c.w.flaws["down"] {
				c.step(checkpoint.ServerFenced{ID: "s2"})
				return
			}
			c.step(checkpoint.ServerSilent{ID: "s2"})
		})
	}
	if n.w.deaf["s2"] {
		try(nil, func(c *node) { c.speak() })
	}
	for _, target := range targets {
		try(func(b *budget) *int { return &b.Targets }, func(c *node) { c.step(checkpoint.Adjust{Targets: target}) })
	}
	for _, target := range targets {
		try(func(b *budget) *int { return &b.Hurries }, func(c *node) {
			c.step(checkpoint.Adjust{Targets: target, Deadline: c.m.Last().Add(time.Hour)})
		})
	}
	try(func(b *budget) *int { return &b.Drains }, func(c *node) {
		c.step(checkpoint.Drain{ID: "s2", Deadline: c.m.Last().Add(time.Hour)})
	})
	if alive := n.w.alive("a"); len(alive) > 0 {
		try(func(b *budget) *int { return &b.Stalls }, func(c *node) {
			c.step(checkpoint.Stalled{Job: "a", Attempt: alive[len(alive)-1]})
		})
	}
	try(func(b *budget) *int { return &b.Cancels }, func(c *node) { c.step(checkpoint.Cancel{Job: "a"}) })
	if alive := n.w.alive("a"); len(alive) > 0 {
		try(func(b *budget) *int { return &b.Kills }, func(c *node) {
			for id := range c.w.agents {
				c.w.kill("a", id)
			}
			c.step(checkpoint.Exited{Job: "a", Attempt: alive[len(alive)-1], Detail: ""})
		})
	}
	return next
}

// speak lets the server that was silent answer again.
func (n *node) speak() {
	delete(n.w.deaf, "s2")
	n.step(slotted("s2"))
}

func (n *node) clone() *node {
	c := *n
	c.m, c.w = n.m.Clone(), n.w.clone()
	c.inflight, c.done, c.replies = slices.Clone(n.inflight), slices.Clone(n.done), slices.Clone(n.replies)
	return &c
}

func (n *node) take(i int) checkpoint.Effect {
	e := n.inflight[i]
	n.inflight = slices.Delete(n.inflight, i, i+1)
	return e
}

// perform does an effect; every save finds the job a step further.
func (n *node) perform(i int) {
	e := n.take(i)
	if e.Action == checkpoint.Save {
		n.w.work()
	}
	reply := n.w.perform(e, nil)
	n.reply(e, reply)
}

// reply sends a reply to the master that has sent the effect, if that is still there.
func (n *node) reply(e checkpoint.Effect, reply checkpoint.Reply) {
	if e.Action == checkpoint.Prune {
		return
	}
	n.done = append(n.done, e)
	if e.Epoch == n.m.Epoch() {
		n.replies = append(n.replies, reply)
	}
}

// lose loses an effect; the time-out will tell.
func (n *node) lose(i int) { n.done = append(n.done, n.take(i)) }

func (n *node) refuse(i int) {
	e := n.take(i)
	n.reply(e, checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Failed})
}

// half does an effect on its first server only.
func (n *node) half(i int) {
	e := n.take(i)
	if len(e.Servers) < 2 {
		return // the same as lose
	}
	reply := n.w.perform(e, map[string]bool{e.Servers[1]: true})
	n.reply(e, reply)
}

func (n *node) answer(i int) {
	reply := n.replies[i]
	n.replies = slices.Delete(n.replies, i, i+1)
	n.step(reply)
}

func (n *node) tick() {
	n.step(checkpoint.Tick{Now: n.m.Last().Add(time.Hour)})
}

// step is a driver: what was recorded is durable at once.
func (n *node) step(event checkpoint.Event) {
	_ = n.m.Step(event) // the targets of the model may make no sense any more
	if fault := n.m.Audit(); fault != "" {
		n.w.fault("the books: %s", fault)
	}
	ready := n.m.Ready()
	n.w.durable(ready.Record)
	n.inflight = append(n.inflight, ready.Effects...)
}

// crash replaces the master. What it has sent is still on its way, replies to it are lost.
func (n *node) crash() {
	m, err := checkpoint.Recover(n.m.Config(), n.m.Epoch()+1, n.m.Snapshot())
	if err != nil {
		n.w.fault("recover: %v", err)
		return
	}
	n.m, n.replies = m, nil
	n.m.SetLast(time.Unix(0, 0))
	n.inflight = append(n.inflight, m.Ready().Effects...)
}

// settle lets all go well until nothing moves, and returns what is wrong then; "": nothing.
func (n *node) settle() string {
	if n.w.deaf["s2"] {
		n.speak()
	}
	for range 200 {
		for len(n.inflight) > 0 {
			n.perform(0)
		}
		for len(n.replies) > 0 {
			n.answer(0)
		}
		still := len(n.inflight) == 0
		for _, j := range n.m.Jobs() {
			if checkpoint.Runs[j.Phase] && j.Phase != checkpoint.Resuming && j.Phase != checkpoint.Confirming && !n.w.whole(j.Name, j.Attempt) {
				n.step(checkpoint.Exited{Job: j.Name, Attempt: j.Attempt, Detail: ""})
			}
			still = still && j.Phase.Action() == "" && j.Phase != checkpoint.Waiting && j.Order == 0
		}
		if len(n.w.faults) > 0 {
			return n.w.faults[0]
		}
		if still && len(n.inflight) == 0 {
			return n.w.settled(n.m)
		}
		if len(n.inflight) == 0 {
			n.tick()
		}
	}
	return "it never comes to rest"
}

// explore visits every state that can be reached, at most limit, and returns how many, and the path to
// the first that is wrong.
func explore(start *node, targets []map[string][]string, limit, sample int) (visited int, fault string) {
	seen := make(map[[16]byte]bool)
	var visit func(*node) string
	visit = func(n *node) string {
		if len(n.w.faults) > 0 {
			return n.w.faults[0]
		}
		sum := sha256.Sum256([]byte(n.key()))
		key := [16]byte(sum[:16])
		if seen[key] || len(seen) >= limit {
			return ""
		}
		seen[key] = true
		if int(key[0])%sample == 0 {
			if fault := n.clone().settle(); fault != "" {
				return "when all goes well from here: " + fault
			}
		}
		for _, next := range n.moves(targets) {
			if fault := visit(next); fault != "" {
				return fault
			}
		}
		return ""
	}
	fault = visit(start)
	return len(seen), fault
}

// smallWorld has job a running on s1, and b submitted; each server has one slot.
func smallWorld(left budget) *node {
	config := checkpoint.Config{Kinds: slotKinds, Retries: -1, Restarts: 1, MaxTick: 100 * time.Hour}
	m, err := checkpoint.New(config, 1)
	if err != nil {
		panic(err)
	}
	n := &node{m: m, w: newWorld(map[string]int64{"s1": 1, "s2": 1}), left: left}
	n.m.SetLast(time.Unix(0, 0))
	for id := range n.w.slots {
		n.step(checkpoint.ServerUp{Server: apportion.Server{ID: id, Capacity: apportion.Resources{1}}})
	}
	n.step(checkpoint.Submit{Job: "a", Demand: slot, Min: 1})
	n.step(checkpoint.Submit{Job: "b", Demand: slot, Min: 1})
	n.step(checkpoint.Adjust{Targets: map[string][]string{"a": {"s1"}}})
	if fault := n.settle(); fault != "" || !n.w.whole("a", n.m.Look("a").Attempt) {
		panic("the small world does not begin: " + fault)
	}
	return n
}

// exploreLimit is how many states are visited at most: EXPLORE_LIMIT of the environment.
func exploreLimit(t *testing.T) int {
	if text := os.Getenv("EXPLORE_LIMIT"); text != "" {
		return must.Have(strconv.Atoi(text))(t)
	}
	if testing.Short() {
		return 500
	}
	return 3000
}

// TestBrokenPromises explores worlds whose servers break one of the promises of Effect: each must lead
// to what must never be. So the promises are needed, and the exploration would see it.
func TestBrokenPromises(t *testing.T) {
	for _, test := range []struct {
		flaw, lost string // the promise, and an effect that is lost before
		target     []string
		left       budget
	}{
		{"attempt", "", []string{"s2"}, budget{Again: 1, Targets: 1}},
		{"release", "release", []string{"s1"}, budget{Again: 1, Targets: 1}},
		{"restart", "", []string{"s1", "s2"}, budget{Again: 1, Kills: 1, Targets: 1}},
		{"down", "", []string{"s1", "s2"}, budget{Silences: 1, Targets: 1}}, // is said to be dead, and lives
	} {
		t.Run(test.flaw, func(t *testing.T) {
			start := smallWorld(test.left)
			start.w.flaws = map[string]bool{test.flaw: true}
			if test.lost != "" {
				start.moveLosing(checkpoint.Action(test.lost))
			}
			visited, fault := explore(start, []map[string][]string{{"a": test.target}}, 5000, 1)
			if fault == "" {
				t.Errorf("%d states, and nothing seen", visited)
			}
			t.Log(visited, fault)
		})
	}
}

// moveLosing moves job a to s2; the first effect of a kind is lost, and may arrive later.
func (n *node) moveLosing(kind checkpoint.Action) {
	n.step(checkpoint.Adjust{Targets: map[string][]string{"a": {"s2"}}})
	for len(n.inflight) > 0 && n.inflight[0].Action != kind {
		n.perform(0)
		for len(n.replies) > 0 {
			n.answer(0)
		}
	}
	n.lose(0)
	if fault := n.settle(); fault != "" || !n.w.whole("a", n.m.Look("a").Attempt) {
		panic("a does not move: " + fault)
	}
}

func TestExplore(t *testing.T) {
	move := map[string][]string{"a": {"s2"}}
	handOver := map[string][]string{"a": {"s2"}, "b": {"s1"}}
	grow, suspend := map[string][]string{"a": {"s1", "s2"}}, map[string][]string{"a": nil}
	limit, sample := exploreLimit(t), 8
	for _, test := range []struct {
		name    string
		targets []map[string][]string
		left    budget
	}{
		{"move, one fault", []map[string][]string{move}, budget{Faults: 1, Ticks: 2, Again: 1, Targets: 1}},
		{"move, a crash", []map[string][]string{move}, budget{Crashes: 1, Targets: 1}},
		{"move, a crash, a fault", []map[string][]string{move}, budget{Crashes: 1, Faults: 1, Ticks: 1, Targets: 1}},
		{"move, old messages", []map[string][]string{move}, budget{Crashes: 1, Again: 1, Targets: 1}},
		{"grow, a server lost", []map[string][]string{grow}, budget{Losses: 1, Targets: 1}},
		{"grow, a server lost, a fault", []map[string][]string{grow}, budget{Losses: 1, Again: 1, Ticks: 1, Faults: 1, Targets: 1}},
		{"suspend and grow, a death", []map[string][]string{suspend, grow}, budget{Kills: 1, Targets: 2}},
		{"hand over, a crash", []map[string][]string{handOver}, budget{Crashes: 1, Targets: 1}},
		{"grow, a silent server", []map[string][]string{grow}, budget{Silences: 1, Targets: 1, Ticks: 1}},
		{"grow, a silent server, lost or not", []map[string][]string{grow}, budget{Silences: 1, Losses: 1, Targets: 1, Ticks: 1}},
		{"move, a silent server, a fault", []map[string][]string{move}, budget{Silences: 1, Faults: 1, Ticks: 1, Targets: 1}},
		{"move, a silent server, a crash", []map[string][]string{move}, budget{Silences: 1, Crashes: 1, Targets: 1}},
		{"hand over, a silent server", []map[string][]string{handOver}, budget{Silences: 1, Losses: 1, Targets: 1}},
		{"move by a deadline, then another", []map[string][]string{move, grow}, budget{Hurries: 2, Ticks: 2, Faults: 1}},
		{"hand over by a deadline, a crash", []map[string][]string{handOver}, budget{Hurries: 1, Ticks: 1, Crashes: 1}},
		{"grow, a drain", []map[string][]string{grow, suspend}, budget{Targets: 2, Drains: 1, Ticks: 1}},
		{"move, stalled", []map[string][]string{move}, budget{Targets: 1, Stalls: 2, Ticks: 1, Faults: 1}},
		{"hand over, cancelled", []map[string][]string{handOver}, budget{Cancels: 1, Targets: 1}},
		{"hand over, a server lost", []map[string][]string{handOver}, budget{Losses: 1, Targets: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			start := smallWorld(test.left)
			start.done = nil // a matter for TestBrokenPromises
			visited, fault := explore(start, test.targets, limit, sample)
			must.Equal(t, fault, "")
			t.Logf("%d states, all: %v", visited, visited < limit)
		})
	}
}
