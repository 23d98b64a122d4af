// This file draws the vectors of the run protocol: which orders a server obeys, for how long its runs go on, and which of them a master
// vouches for. checkpoint/RUN.tla says why that keeps a job from running twice.

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/guard"
)

// message is one that comes to a server: an order of a master, or the end of its lease, which has ended an attempt.
type message struct {
	Order  *checkpoint.Effect `json:"order,omitempty"`
	Lapsed int64              `json:"lapsed,omitempty"`
}

// ruled is what a server does about a message, and what it remembers from then on.
type ruled struct {
	Ruling     string      `json:"ruling,omitempty"`
	Constraint string      `json:"constraint,omitempty"`
	Fence      agent.Fence `json:"fence"`
}

// orders are random ones of one job, late and twice, of masters that follow each other.
func orders() ([]vector, error) {
	r := random(5)
	actions := []checkpoint.Action{checkpoint.Create, checkpoint.Create, checkpoint.Resume, checkpoint.Confirm, checkpoint.Save, checkpoint.Stop, checkpoint.Release}
	var vectors []vector
	for i := range 12 {
		var in []message
		var out []ruled
		var f agent.Fence
		for n := range 24 {
			// What is new comes in order, and now and then something of before.
			newest := 1 + int64(n/5)
			attempt := max(1, newest-r.Int64N(3)/2*r.Int64N(3))
			if r.IntN(12) == 0 {
				if max(f.Lapsed, f.Stopped) < attempt {
					f.Lapsed = attempt
				}
				in, out = append(in, message{Lapsed: attempt}), append(out, ruled{Fence: f})
				continue
			}
			e := checkpoint.Effect{ID: int64(100*n) + r.Int64N(300), Epoch: 1 + int64(n/9), Action: pick(r, actions), Job: "lr", Attempt: attempt}
			e.Epoch = max(1, e.Epoch-r.Int64N(6)/5)
			if i%3 == 0 {
				e.Journal = pick(r, []string{"", "one", "one", "two"})
				if e.Journal == "two" && r.IntN(2) == 0 {
					e.Former = []string{"one"}
				}
			}
			after, verdict := f.Admit(e)
			f = after
			in, out = append(in, message{Order: &e}), append(out, ruled{verdict.Ruling.String(), verdict.Reason.Constraint, f})
		}
		vectors = append(vectors, vector{fmt.Sprint("server ", i), in, out})
	}
	return vectors, nil
}

// pick draws one of a list.
func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// stamp is a time of a server's own clock, in seconds since a boot.
type stamp struct {
	Boot string `json:"boot"`
	At   int64  `json:"at"`
}

func (s stamp) stamp() agent.Stamp {
	return agent.Stamp{Boot: s.Boot, At: time.Duration(s.At) * time.Second}
}

// echo is a moment at a server: a stamp of its own that comes back, or only the question how long its lease goes on.
type echo struct {
	Now  stamp  `json:"now"`
	Echo *stamp `json:"echo,omitempty"`
}

// leased is the question of a vector of leases; Length is in seconds.
type leased struct {
	Length int64  `json:"length"`
	Steps  []echo `json:"steps"`
}

// leases are stamps that come back late, twice, out of order, from the future and from a boot of before.
func leases() ([]vector, error) {
	r := random(6)
	var vectors []vector
	for i := range 8 {
		q := leased{Length: 10}
		l, now := agent.Lease{Length: 10 * time.Second}, stamp{"a", 0}
		var left []int64
		for range 20 {
			if now.At += r.Int64N(7); r.IntN(10) == 0 {
				now = stamp{now.Boot + "'", r.Int64N(3)}
			}
			s := echo{Now: now}
			if r.IntN(4) > 0 {
				s.Echo = &stamp{pick(r, []string{now.Boot, now.Boot, now.Boot, "a"}), max(0, now.At-r.Int64N(16)+r.Int64N(10)/8)}
				l = l.Renew(s.Echo.stamp(), now.stamp())
			}
			q.Steps, left = append(q.Steps, s), append(left, int64(l.Left(now.stamp())/time.Second))
		}
		vectors = append(vectors, vector{fmt.Sprint("lease ", i), q, left})
	}
	return vectors, nil
}

// heard is one thing that a master's desk is told, At so many seconds after the first master has begun: Do says what, of one run.
type heard struct {
	At      int64  `json:"at"`
	Do      string `json:"do"`
	Attempt int64  `json:"attempt,omitempty"`
	Server  string `json:"server,omitempty"`
	// What a claim says beside: whose run it is, which guard asks, and what it knows of the run.
	Epoch   int64  `json:"epoch,omitempty"`
	Life    string `json:"life,omitempty"`
	Started bool   `json:"started,omitempty"`
	Ended   bool   `json:"ended,omitempty"`
}

// desk is the question of a vector of claims. Times are in seconds; a window of 0 is none.
type desk struct {
	Length int64   `json:"length"`
	Slack  int64   `json:"slack"`
	Window int64   `json:"window"`
	Steps  []heard `json:"steps"`
}

// vouched is the answer to a claim, and which runs are over for certain, by attempt and server.
type vouched struct {
	Answer string   `json:"answer,omitempty"`
	Save   int64    `json:"save,omitempty"`
	Over   []string `json:"over"`
}

// claims are what a desk is told and asked: attempts begin, end and are fenced off, guards ask, and masters follow each other.
func claims() ([]vector, error) {
	r := random(7)
	var vectors []vector
	for i := range 12 {
		q := desk{Length: 10, Slack: 2, Window: int64(i%2) * 15}
		p := &played{desk: &q, newest: 1}
		p.follow()
		var out []vouched
		for range 40 {
			s := p.draw(r)
			answer := p.tell(s)
			q.Steps, out = append(q.Steps, s), append(out, answer)
		}
		vectors = append(vectors, vector{fmt.Sprint("masters ", i), q, out})
	}
	return vectors, nil
}

// played are masters of one job, one after the other.
type played struct {
	*desk
	at, epoch, newest int64
	// named is the newest attempt that the desk was told of.
	named int64
	now   *guard.Desk
}

// follow puts the next master in the place of the one before. It knows nothing but what it is told.
func (p *played) follow() {
	origin, seconds := time.Unix(0, 0), func(n int64) time.Duration { return time.Duration(n) * time.Second }
	p.epoch++
	p.now = guard.NewDesk(p.epoch, seconds(p.Length), seconds(p.Slack), func() time.Time { return origin.Add(seconds(p.at)) })
	if p.Window > 0 {
		p.now.RequireReach(seconds(p.Window))
	}
}

// draw draws what comes next: mostly claims, of attempts that are there or were.
func (p *played) draw(r *rand.Rand) heard {
	p.at += r.Int64N(6)
	s := heard{At: p.at, Do: pick(r, []string{"claim", "claim", "claim", "claim", "claim", "reached", "begin", "admit", "admit-started", "fence", "save", "follow"})}
	if s.Do == "begin" && r.IntN(2) == 0 {
		p.newest++
	}
	if s.Do != "follow" && s.Do != "reached" {
		s.Attempt = max(1, p.newest-r.Int64N(4)/3)
	}
	if s.Do == "claim" || s.Do == "save" || s.Do == "reached" {
		s.Server = pick(r, []string{"s1", "s1", "s2"})
	}
	if s.Do == "claim" {
		s.Epoch, s.Life = max(1, p.epoch-r.Int64N(3)+r.Int64N(8)/7), pick(r, []string{"x", "x", "x", "x", "y"})
		s.Started, s.Ended = r.IntN(2) == 0, r.IntN(10) == 0
	}
	return s
}

// tell tells the desk, and asks it which runs are over.
func (p *played) tell(s heard) (out vouched) {
	id := guard.ID{Job: "lr", Attempt: s.Attempt, Server: s.Server}
	switch s.Do {
	case "follow":
		p.follow()
	case "reached":
		p.now.Reached(s.Server)
	case "begin":
		p.now.Begin(id.Job, s.Attempt)
	case "admit":
		p.now.Admit(id.Job, s.Attempt)
	case "admit-started":
		p.now.AdmitStarted(id.Job, s.Attempt)
	case "fence":
		p.now.Fence(id.Job, s.Attempt)
	case "save":
		p.now.AskSave(id)
	case "claim":
		c := guard.Claim{ID: id, Epoch: s.Epoch, Life: s.Life, Clock: agent.Stamp{Boot: "b", At: time.Duration(s.At) * time.Second}}
		if c.State.Started = s.Started; s.Ended {
			c.State.Ended = &guard.End{}
		}
		switch grant, err := p.now.Answer(c); {
		case err != nil:
			out.Answer = "refused"
		case grant.Fenced != "":
			out.Answer = "fenced"
		default:
			out.Answer, out.Save = "granted", grant.Save
		}
	}
	out.Over, p.named = []string{}, max(p.named, s.Attempt, 1)
	for attempt := range p.named {
		for _, server := range []string{"s1", "s2"} {
			if p.now.Over(guard.ID{Job: id.Job, Attempt: attempt + 1, Server: server}) {
				out.Over = append(out.Over, fmt.Sprint(attempt+1, " ", server))
			}
		}
	}
	slices.Sort(out.Over)
	return out
}
