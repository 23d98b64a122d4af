// This file runs the protocol under random schedules: messages late, lost, doubled and out of order,
// crashes of masters and disks, servers that come and go, clocks that jump, two masters.

package checkpoint_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/rapidtest"
)

// TestRandomSchedules checks after every action that no job runs twice, no server is too full, nothing
// confirmed is lost; and that in the end, when all goes well again, every job is somewhere.
func TestRandomSchedules(t *testing.T) {
	var total tally
	runs, crashes, fenced, stale := 0, 0, 0, int64(0)
	rapidtest.Until(t, "a crash, a fence, a save or a refusal", func() bool { return crashes > 0 && fenced > 0 && total.saves > 0 && total.refused > 0 }, func(t *rapid.T) {
		c := &chaos{sim: daySim()}
		c.begin()
		for range 3 { // longer than a Repeat is
			t.Repeat(c.actions())
		}
		must.Equal(t, c.drain(), "")
		runs++
		crashes, fenced = crashes+c.crashes, fenced+c.fenced
		for _, ms := range c.masters {
			stale += ms.m.Stale()
		}
		total.effects, total.refused = total.effects+c.world.tally.effects, total.refused+c.world.tally.refused
		total.resumes, total.saves = total.resumes+c.world.tally.resumes, total.saves+c.world.tally.saves
	})
	t.Logf("%d schedules, %d crashes, %d masters replaced, %+v, %d stale replies to the last masters", runs, crashes, fenced, total, stale)
}

// chaos draws what happens.
type chaos struct {
	*sim
	crashes, fenced int
}

var (
	jobNames    = []string{"a", "b", "c"}
	serverNames = []string{"s1", "s2", "s3"}
)

func (c *chaos) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":          c.invariants,
		"submit":    c.submit,
		"adjust":    c.adjust,
		"deliver":   c.deliverAny,
		"deliver2":  c.deliverAny,
		"answer":    c.answerAny,
		"answer2":   c.answerAny,
		"well":      c.well,
		"well2":     c.well,
		"again":     c.againAny,
		"tick":      c.jump,
		"work":      func(*rapid.T) { c.world.work() },
		"poll":      c.pollAny,
		"end":       c.end,
		"save":      c.save,
		"crash":     c.crashMaster,
		"second":    c.second,
		"server":    c.server,
		"kill":      c.kill,
		"drain":     c.drainServer,
		"cordon":    c.cordonServer,
		"stalled":   c.stall,
		"damage":    c.damage,
		"forgotten": c.forget,
	}
}

func (c *chaos) begin() {
	ms := c.open()
	c.poll(ms)
	for _, event := range []checkpoint.Event{
		checkpoint.Submit{Job: "a", Demand: slot, Min: 1}, checkpoint.Submit{Job: "b", Demand: slot, Min: 1}, checkpoint.Adjust{Targets: map[string][]string{"a": {"s1"}, "b": {"s2", "s2"}}},
	} {
		_ = c.step(ms, event)
	}
	c.arrive(8)
}

func (c *chaos) invariants(t *rapid.T) {
	if len(c.world.faults) > 0 {
		t.Fatal(c.world.faults)
	}
	for _, ms := range c.masters {
		must.Equal(t, ms.m.Audit(), "")
	}
}

func (c *chaos) master(t *rapid.T) *master {
	for range 2 { // a crash may hit the opening, but only one
		if c.alive() == nil {
			c.open()
		}
	}
	if c.alive() == nil {
		t.Fatal("the journal cannot be opened: ", c.world.faults)
	}
	return rapid.SampledFrom(c.masters).Draw(t, "master")
}

func job(t *rapid.T) string { return rapid.SampledFrom(jobNames).Draw(t, "job") }

func (c *chaos) submit(t *rapid.T) {
	_ = c.step(c.master(t), checkpoint.Submit{Job: job(t), Demand: slot, Min: rapid.IntRange(0, 2).Draw(t, "min")})
}

func (c *chaos) adjust(t *rapid.T) {
	ms := c.master(t)
	c.poll(ms)
	targets := rapid.MapOfN(rapid.SampledFrom(jobNames), rapid.SliceOfN(rapid.SampledFrom(serverNames), 0, 3), 1, 3).Draw(t, "targets")
	for name := range targets {
		if _, ok := ms.m.Job(name); !ok {
			delete(targets, name)
		}
	}
	a := checkpoint.Adjust{Targets: targets}
	if rapid.IntRange(0, 2).Draw(t, "hurry") == 0 {
		a.Deadline = c.now.Add(time.Duration(rapid.IntRange(-10, 300).Draw(t, "seconds")) * time.Second)
	}
	_ = c.step(ms, a) // it may ask for what cannot be
}

func (c *chaos) deliverAny(t *rapid.T) {
	if len(c.inflight) == 0 {
		t.Skip("nothing is on its way")
	}
	ways := []fate{well, well, refused, partly, unanswered, vanished, delayed}
	way := rapid.SampledFrom(ways).Draw(t, "way")
	c.fate = func(msg *message) fate {
		if way == partly && len(msg.e.Servers) == 0 {
			return refused
		}
		return way
	}
	c.deliver(rapid.IntRange(0, len(c.inflight)-1).Draw(t, "message"))
}

func (c *chaos) answerAny(t *rapid.T) {
	if len(c.replies) == 0 {
		t.Skip("nothing is on its way")
	}
	i := rapid.IntRange(0, len(c.replies)-1).Draw(t, "reply")
	if rapid.IntRange(0, 9).Draw(t, "double") == 0 {
		c.replies = append(c.replies, c.replies[i])
	}
	c.answer(i)
}

// well lets all that is on its way arrive, a few times over.
func (c *chaos) well(t *rapid.T) {
	c.arrive(rapid.IntRange(1, 6).Draw(t, "rounds"))
}

func (c *chaos) arrive(rounds int) {
	c.fate = func(*message) fate { return well }
	for range rounds {
		for n := len(c.inflight); n > 0; n-- {
			c.deliver(0)
		}
		for n := len(c.replies); n > 0; n-- {
			c.answer(0)
		}
	}
}

// againAny delivers what was delivered before, or was delayed.
func (c *chaos) againAny(t *rapid.T) {
	old := slices.Concat(c.history[max(0, len(c.history)-40):], c.late)
	if len(old) == 0 {
		t.Skip("nothing was on its way")
	}
	c.again(rapid.SampledFrom(old).Draw(t, "message"))
}

func (c *chaos) jump(t *rapid.T) {
	c.alive()
	jump := rapid.SampledFrom([]time.Duration{time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, -time.Hour, 1000 * time.Hour})
	c.tick(jump.Draw(t, "by"))
}

func (c *chaos) pollAny(t *rapid.T) { c.poll(c.master(t)) }

func (c *chaos) end(t *rapid.T) {
	ms, name := c.master(t), job(t)
	if rapid.Bool().Draw(t, "cancel") {
		_ = c.step(ms, checkpoint.Cancel{Job: name})
		return
	}
	if attempts := c.world.alive(name); len(attempts) == 1 && c.world.whole(name, attempts[0]) {
		_ = c.step(ms, checkpoint.Finished{Job: name, Attempt: attempts[0]})
	}
}

func (c *chaos) forget(t *rapid.T) {
	_ = c.step(c.master(t), checkpoint.Forget{Job: job(t)}) // it may not have ended
}

func (c *chaos) save(t *rapid.T) { _ = c.step(c.master(t), checkpoint.Checkpoint{Job: job(t)}) }

// crashMaster ends a master now, or at one of the next points where it can end, or all of them with
// their machine and what its disk had not synced.
func (c *chaos) crashMaster(t *rapid.T) {
	ms := c.master(t)
	c.crashes++
	switch rapid.SampledFrom([]string{"now", "midway", "power"}).Draw(t, "how") {
	case "now":
		ms.dead = true
	case "midway":
		left := rapid.IntRange(0, 3).Draw(t, "points")
		c.crash = func(string) bool { left--; return left == -1 }
	case "power":
		c.mem = c.mem.Crash(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)))
		for _, other := range c.masters {
			other.dead = true
		}
	}
}

// second starts a master while others live.
func (c *chaos) second(*rapid.T) {
	if c.alive() != nil {
		c.fenced++
	}
	c.open()
}

func (c *chaos) server(t *rapid.T) {
	id := rapid.SampledFrom(serverNames).Draw(t, "server")
	switch {
	case c.world.agents[id] == nil:
		c.raise(id)
	case c.world.deaf[id]:
		delete(c.world.deaf, id)
	case rapid.Bool().Draw(t, "silent"):
		c.world.deaf[id] = true
	default:
		c.fell(id)
	}
}

func (c *chaos) kill(t *rapid.T) {
	c.world.kill(job(t), rapid.SampledFrom(serverNames).Draw(t, "server"))
}

func (c *chaos) drainServer(t *rapid.T) {
	d := checkpoint.Drain{ID: rapid.SampledFrom(serverNames).Draw(t, "server"), Over: rapid.Bool().Draw(t, "over")}
	if rapid.Bool().Draw(t, "hurry") {
		d.Deadline = c.now.Add(time.Minute)
	}
	_ = c.step(c.master(t), d) // it may not be there
}

func (c *chaos) cordonServer(t *rapid.T) {
	d := checkpoint.Cordon{ID: rapid.SampledFrom(serverNames).Draw(t, "server"), Over: rapid.Bool().Draw(t, "over")}
	if rapid.Bool().Draw(t, "for a while") {
		d.Until = c.now.Add(time.Minute)
	}
	_ = c.step(c.master(t), d) // it may not be there
}

func (c *chaos) stall(t *rapid.T) {
	name := job(t)
	if attempts := c.world.alive(name); len(attempts) == 1 {
		_ = c.step(c.master(t), checkpoint.Stalled{Job: name, Attempt: attempts[0]})
	}
}

// damage takes the newest checkpoint of a job out of the store.
func (c *chaos) damage(t *rapid.T) {
	name := job(t)
	if rapid.IntRange(0, 9).Draw(t, "rarely") > 0 {
		t.Skip("not now")
	}
	if newest := c.world.best[name]; newest.Number != 0 {
		delete(c.world.store[name], newest.Number)
		c.world.damaged[name] = true
	}
}
