// This file holds machines: their disk, their clock, their agent and their processes.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/vfstest"
)

// host is a machine on which jobs run.
type host struct {
	w     *world
	id    string
	slots int64
	disk  *vfstest.Mem
	full  time.Time // until then the disk takes nothing
	// The clock of a machine counts from its boot, at its own rate.
	boot   int
	bootID string
	booted time.Time
	rate   float64
	down   bool
	life   *life
	agent  *agent.Agent
	// listens answers for the agent, where the wire is real.
	listens http.Handler
	end     context.CancelFunc
	wires   wires
	// processes are those of the newest attempts, by job.
	processes map[string]*process
}

func newHost(w *world, id string, slots int64) *host {
	h := &host{w: w, id: id, slots: slots, disk: vfstest.NewMem(), rate: 1 + drift*(2*w.rng.Float64()-1), down: true}
	h.boots()
	return h
}

// boots is what a reboot leaves: a new clock and no process.
func (h *host) boots() {
	for _, p := range h.processes {
		p.end("the machine is gone", killed)
		p.guarded.dies()
	}
	h.boot++
	h.bootID = fmt.Sprintf("%s-%d", h.id, h.boot)
	h.booted, h.processes = time.Now(), map[string]*process{}
}

// clock is the time since the boot.
func (h *host) clock() agent.Stamp {
	return agent.Stamp{Boot: h.bootID, At: time.Duration(float64(time.Since(h.booted)) * h.rate)}
}

// start starts the agent, and tries again and again where its disk does not let it.
func (h *host) start() {
	l := &life{}
	a, err := agent.New(agent.Config{Server: h.id, Disk: l.disk(h.disk, &h.full), Shared: "shared",
		Restored: h.id, Discard: true, Store: &checkpoints{h.w.store, h.w, l}, Lease: lease, Clock: h.clock,
		Runner: func(job string, _ json.RawMessage) (runner.Runner, error) { return &trainers{h, l, job}, nil },
		Report: func(err error) { h.w.trace("%s: the agent reports: %v", h.id, err) }})
	if err != nil {
		h.w.trace("%s: the agent does not start: %v", h.id, err)
		time.AfterFunc(2*time.Second, func() {
			if h.down {
				h.start()
			}
		})
		return
	}
	h.w.trace("%s: the agent starts", h.id)
	ctx, end := context.WithCancel(context.Background())
	h.agent, h.life, h.end, h.down, h.listens = a, l, end, false, h.listen(a)
	go a.Run(ctx)
	go h.join()
}

// kill ends the agent at this moment; its jobs run on.
func (h *host) kill() {
	if h.down {
		return
	}
	h.down, h.life.dead = true, true
	h.end()
}

// joins lets the machine join whatever master does not know it.
func (h *host) joins() {
	for !h.w.over {
		time.Sleep(time.Duration(2000+h.w.rng.IntN(2000)) * time.Millisecond)
		if m := h.w.master(); m != nil && !h.down && m.d.Agent(h.id) == nil {
			h.join()
		}
	}
}

func (h *host) join() {
	m := h.w.master()
	if m == nil {
		return
	}
	err := within(10*time.Second, func(ctx context.Context) error {
		return m.d.Join(ctx, apportion.Server{ID: h.id, Capacity: apportion.Resources{h.slots}}, h.road(m))
	})
	h.w.trace("%s: joins master %d: %v", h.id, m.epoch, err)
}

func (h *host) road(m *master) driver.Agent {
	if h.w.Wire {
		return &ear{Agent: h.w.remote(m, h), m: m, h: h}
	}
	return &ear{Agent: &link{m, h}, m: m, h: h}
}

// does and asked are what reaches an agent of the machine.
func (h *host) does(ctx context.Context, a *agent.Agent, o agent.Order) (checkpoint.Reply, error) {
	h.w.truth.received(h, o)
	done := h.w.steps.does(h, o)
	reply, err := a.Do(ctx, o)
	done(reply)
	return reply, err
}

func (h *host) asked(ctx context.Context, a *agent.Agent, q agent.Question) (agent.Status, error) {
	answered := h.w.steps.asked(h, q)
	status, err := a.Status(ctx, q)
	answered(status, err)
	return status, err
}

// repair ends what is wrong with the machine.
func (h *host) repair() {
	h.full, h.wires = time.Time{}, wires{}
	if h.life != nil {
		h.life.frozen = time.Time{}
	}
	if h.down {
		h.start()
	}
	for _, p := range h.processes {
		p.hangs = false
		p.guarded.guard.frozen, p.guarded.keeper.frozen = time.Time{}, time.Time{}
	}
}
