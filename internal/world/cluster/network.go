// This file holds the network between masters and agents: messages are late, are lost, come twice, and come after their
// callers have given up.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
)

// wires are what is wrong with the network of a machine: until when nothing comes through, each way, and until when the network loses,
// repeats and delays.
type wires struct {
	noWord, noAnswer, bad time.Time
	only                  *master // until onlyUntil, no other is heard
	onlyUntil             time.Time
}

func (k *link) gone() bool { return time.Now().Before(k.h.wires.onlyUntil) && k.m != k.h.wires.only }

// longest is how late a message may be whose caller has given up.
const longest = 90 * time.Second

// errRefused is what a machine answers on which no agent listens.
var errRefused = errors.New("connection refused")

// link is a master's way to an agent. It implements driver.Agent.
type link struct {
	m *master
	h *host
}

func (k *link) Do(ctx context.Context, o agent.Order) (checkpoint.Reply, error) {
	return call(ctx, k, o, func(ctx context.Context, a *agent.Agent, o agent.Order) (checkpoint.Reply, error) {
		return k.h.does(ctx, a, o)
	})
}

func (k *link) Status(ctx context.Context, q agent.Question) (agent.Status, error) {
	return call(ctx, k, q, func(ctx context.Context, a *agent.Agent, q agent.Question) (agent.Status, error) {
		return k.h.asked(ctx, a, q)
	})
}

// copied is a value as it is on the other side of a wire.
func copied[T any](v T) (to T) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &to)
	}
	if err != nil {
		panic(err)
	}
	return to
}

// call carries a message to the agent and its answer back.
func call[Q, A any](ctx context.Context, k *link, q Q, do func(context.Context, *agent.Agent, Q) (A, error)) (A, error) {
	var none A
	w, message := k.h.w, copied(q)
	if err := k.m.life.pass(); err != nil {
		return none, err
	}
	bad := time.Now().Before(k.h.wires.bad)
	if bad && w.rng.IntN(3) == 0 {
		k.later(func(ctx context.Context, a *agent.Agent) { _, _ = do(ctx, a, copied(q)) })
	}
	time.Sleep(time.Duration(1+w.rng.IntN(30)) * time.Millisecond)
	if k.gone() || time.Now().Before(k.h.wires.noWord) || bad && w.rng.IntN(4) == 0 {
		<-ctx.Done()
		return none, ctx.Err()
	}
	a, l, err := k.reach()
	if err != nil {
		return none, err
	}
	answer, err := do(ctx, a, message)
	if l.pass() != nil {
		return none, errRefused
	}
	time.Sleep(time.Duration(1+w.rng.IntN(30)) * time.Millisecond)
	if time.Now().Before(k.h.wires.noAnswer) || bad && w.rng.IntN(4) == 0 {
		<-ctx.Done()
		return none, ctx.Err()
	}
	if gone := k.m.life.pass(); gone != nil {
		return none, gone
	}
	return copied(answer), err
}

func (k *link) reach() (*agent.Agent, *life, error) {
	if k.h.down {
		return nil, nil, errRefused
	}
	l := k.h.life
	if l.pass() != nil || k.h.life != l {
		return nil, nil, errRefused
	}
	return k.h.agent, l, nil
}

// later lets a message arrive again, at some time, whatever has become of the first and of its sender.
func (k *link) later(do func(context.Context, *agent.Agent)) {
	time.AfterFunc(time.Duration(k.h.w.rng.Int64N(int64(longest))), func() {
		a, _, err := k.reach()
		if err != nil {
			return
		}
		_ = within(time.Minute, func(ctx context.Context) error { do(ctx, a); return nil })
	})
}
