// This file holds guards and keepers: the library's own, as two processes on a machine whose kernel is played.

package main

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/guard"
)

// killed is the status of a process that SIGKILL has ended, and failed that of one that has exited with 1.
const (
	killed = syscall.WaitStatus(syscall.SIGKILL)
	failed = syscall.WaitStatus(1 << 8)
)

// latest is how much later than its lease a trainer may end: a second of the kernel's timer for what is stopped, of looks that are five times
// as long here, and a second until a process that goes on has noticed.
const latest = 6*time.Second + 500*time.Millisecond

// kernel is the machine as a guard and its keeper have it. Guard and Keeper are called by that process before it does anything: they return
// when it is not stopped, and never when it is dead.
type kernel struct {
	Init                    bool // the keeper is init of a namespace
	Uptime                  func() agent.Stamp
	Guard, Keeper           func()
	Start                   func() // of the trainer
	Signal                  func(syscall.Signal)
	KillTrainer, KillKeeper func()
	Alarm                   func(id int, sig syscall.Signal, while, again time.Duration)
}

// pair is a guard and its keeper, which are told of the end of the trainer, and of each other's.
type pair interface {
	Run(ctx context.Context, c guard.Config) (guard.End, error)
	Exited(syscall.WaitStatus)
	GuardGone()
	KeeperGone()
}

// The file that package world adds to this one says what they are.
var (
	newPair func(kernel) pair
	vouch   func(guard.Voucher, guard.Claim) (guard.Grant, error)
)

// guarded are the guard and the keeper of a process.
type guarded struct {
	of            *process
	machine       pair
	init          bool // the keeper is init of a namespace
	guard, keeper *life
	alarms        [2]*time.Timer
	// until is when the agent's lease is over, by the machine's clock, as the guard was told it last.
	until time.Duration
}

// begin starts the guard of a process, which starts that when it is vouched for. Half of them have a namespace.
func (p *process) begin() {
	g := &guarded{of: p, init: p.h.w.rng.IntN(2) == 0, guard: &life{}, keeper: &life{}}
	p.guarded = g
	g.machine = newPair(kernel{Init: g.init, Uptime: p.h.clock, Guard: g.guard.holds, Keeper: g.keeper.holds, Start: g.start,
		Signal: func(syscall.Signal) {}, KillTrainer: func() { p.end("killed by its keeper", killed) }, KillKeeper: g.killKeeper, Alarm: g.alarm})
	go func() {
		end, err := g.machine.Run(context.Background(), guard.Config{ID: guard.ID{Job: p.run.Job, Attempt: p.run.Attempt, Server: p.h.id}, Authority: g})
		p.h.w.trace("%s: the guard of %s, attempt %d, is over: %v %v", p.h.id, p.run.Job, p.run.Attempt, end, err)
		if p.runs {
			p.h.w.violated("attempt %d of job %q runs on %s without its guard, which has ended", p.run.Attempt, p.run.Job, p.h.id)
		}
		p.end("its guard has ended", killed)
	}()
}

func (g *guarded) start() {
	g.of.starts()
	go func() {
		for g.of.ended == "" {
			over := g.until + latest - g.of.h.clock().At
			if over <= 0 {
				g.of.h.w.violated("attempt %d of job %q outlives its lease on %s", g.of.run.Attempt, g.of.run.Job, g.of.h.id)
				return
			}
			time.Sleep(over)
		}
	}()
}

// Renew implements guard.Authority: it asks the agent of the machine, which may be stopped or dead.
func (g *guarded) Renew(ctx context.Context, c guard.Claim) (guard.Grant, error) {
	h := g.of.h
	for !h.down && h.life.asleep() {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return guard.Grant{}, ctx.Err()
		}
	}
	if h.down {
		return guard.Grant{}, errRefused
	}
	if left, err := h.agent.Vouch(c.Job, c.Attempt); err == nil {
		g.until = max(g.until, h.clock().At+left)
	}
	grant, err := vouch(h.agent, c)
	if h.w.Bug == "no-lease" {
		grant.Length *= 10
	}
	return grant, err
}

// killKeeper is a SIGKILL to the keeper. The kernel kills the trainer with it.
func (g *guarded) killKeeper() {
	if g.keeper.dead {
		return
	}
	g.keeper.dead = true
	g.of.end("its keeper is gone", killed)
	g.machine.KeeperGone()
}

// killGuard is one to the guard. Its keeper dies with it, or goes on and sees that it is alone.
func (g *guarded) killGuard() {
	if g.guard.dead {
		return
	}
	g.guard.dead = true
	g.alarm(0, 0, 0, 0)
	g.alarm(1, 0, 0, 0)
	if g.init || !g.of.runs {
		g.killKeeper()
		return
	}
	g.keeper.frozen = time.Time{}
	g.machine.GuardGone()
}

// dies ends both.
func (g *guarded) dies() {
	g.killGuard()
	g.killKeeper()
}

// alarm sets one of the kernel's timers, which signals the guard though it be stopped.
func (g *guarded) alarm(id int, sig syscall.Signal, while, again time.Duration) {
	if g.alarms[id] != nil {
		g.alarms[id].Stop()
	}
	if while <= 0 {
		return
	}
	g.alarms[id] = time.AfterFunc(while, func() {
		if sig == syscall.SIGKILL {
			g.killGuard()
			return
		}
		g.guard.frozen = time.Time{}
		g.alarm(id, sig, again, again)
	})
}

// holds is pass where nobody asks for an error: a dead process is left where it is.
func (l *life) holds() {
	if errors.Is(l.pass(), errDead) {
		select {}
	}
}
