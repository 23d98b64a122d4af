// This file holds the real wire: what masters and agents say is signed by package wire, and what comes of it on its way is played. A request
// may be lost, late, repeated as it was, repeated after the callee was started anew, delivered elsewhere or changed, and a stranger may
// ask; an answer may be lost, or be one of before.

package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/wire"
)

// onRoad is what is known of a request that is under way, in its context on the callee's side.
type onRoad struct {
	nonce string
	wrong string // why it must not count; empty: it may, once
}

type onRoadKey struct{}

// listens is an agent behind a gate, as the wire has it.
type listens struct {
	h *host
	a *agent.Agent
}

// listen returns what answers for an agent, with a gate of its own.
func (h *host) listen(a *agent.Agent) http.Handler {
	mux := http.NewServeMux()
	wire.HandleAgent(mux, h.w.secret.Credential(h.party()).Gate(), &listens{h, a})
	return mux
}

func (h *host) party() wire.Party { return wire.Party{Role: wire.Agent, Name: h.id} }

// counts judges a request that was let in.
func (l *listens) counts(ctx context.Context) {
	r := ctx.Value(onRoadKey{}).(onRoad)
	w := l.h.w
	switch {
	case r.wrong != "":
		w.violated("%s: a request counts that %s", l.h.id, r.wrong)
	case w.truth.nonces[r.nonce]:
		w.violated("%s: a request counts twice", l.h.id)
	}
	w.truth.nonces[r.nonce] = true
}

func (l *listens) Do(ctx context.Context, o agent.Order) (checkpoint.Reply, error) {
	l.counts(ctx)
	return l.h.does(ctx, l.a, o)
}

func (l *listens) Status(ctx context.Context, q agent.Question) (agent.Status, error) {
	l.counts(ctx)
	return l.h.asked(ctx, l.a, q)
}

// road carries the requests of one master to one machine. It implements http.RoundTripper.
type road struct {
	m    *master
	h    *host
	last *parcel // an answer of before
}

// parcel is a request or an answer as it is on the wire.
type parcel struct {
	status int
	path   string
	header http.Header
	body   []byte
}

func (w *world) remote(m *master, h *host) *wire.Remote {
	c := w.secret.Client("http://"+h.id, h.party())
	c.HTTP = &http.Client{Transport: &road{m: m, h: h}}
	return &wire.Remote{Client: c}
}

func (k *road) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = k.m.life.pass()
	}
	if err != nil {
		return nil, err
	}
	ctx, p := r.Context(), &parcel{path: r.URL.Path, header: r.Header.Clone(), body: body}
	to, wrong := k.h, ""
	bad := k.bad()
	if bad && k.draw(3) == 0 {
		k.again(p)
	}
	switch {
	case bad && k.draw(12) == 0:
		p = p.changed(k.draw(len(p.body)), byte(1+k.draw(255)))
		wrong = "was changed on its way"
	case bad && k.draw(12) == 0:
		if to = k.h.w.hosts[k.draw(len(k.h.w.hosts))]; to != k.h {
			wrong = "was for another machine"
		}
	}
	k.late()
	if (&link{k.m, k.h}).gone() || time.Now().Before(k.h.wires.noWord) || bad && k.draw(4) == 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	answer, err := k.deliver(ctx, to, p, wrong)
	if err != nil {
		return nil, err
	}
	k.late()
	if time.Now().Before(k.h.wires.noAnswer) || bad && k.draw(4) == 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if bad && k.last != nil && k.draw(8) == 0 {
		answer = k.last
	}
	k.last = answer
	if gone := k.m.life.pass(); gone != nil {
		return nil, gone
	}
	return &http.Response{StatusCode: answer.status, Status: http.StatusText(answer.status), Header: answer.header, Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: io.NopCloser(bytes.NewReader(answer.body)), ContentLength: int64(len(answer.body))}, nil
}

func (k *road) bad() bool      { return time.Now().Before(k.h.wires.bad) }
func (k *road) draw(n int) int { return k.h.w.rng.IntN(n) }
func (k *road) late()          { time.Sleep(time.Duration(1+k.draw(30)) * time.Millisecond) }

// changed is the same with another byte.
func (p *parcel) changed(at int, by byte) *parcel {
	q := *p
	q.body = bytes.Clone(p.body)
	q.body[at] ^= by
	return &q
}

// again lets the very same request arrive once more, at some time, whatever listens there then.
func (k *road) again(p *parcel) {
	time.AfterFunc(time.Duration(k.h.w.rng.Int64N(int64(longest))), func() {
		_ = within(time.Minute, func(ctx context.Context) error {
			_, err := k.deliver(ctx, k.h, p, "")
			return err
		})
	})
}

// deliver hands a request to what listens on a machine, and returns the answer.
func (k *road) deliver(ctx context.Context, to *host, p *parcel, wrong string) (*parcel, error) {
	_, l, err := (&link{k.m, to}).reach()
	if err != nil {
		return nil, err
	}
	ctx = context.WithValue(ctx, onRoadKey{}, onRoad{p.header.Get("Apportion-Nonce"), wrong})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+to.id+p.path, bytes.NewReader(p.body))
	if err != nil {
		return nil, err
	}
	r.Header = p.header.Clone()
	answer := &parcel{status: http.StatusOK, header: http.Header{}}
	to.listens.ServeHTTP(answer, r)
	if l.pass() != nil {
		return nil, errRefused
	}
	return answer, nil
}

func (p *parcel) Header() http.Header    { return p.header }
func (p *parcel) WriteHeader(status int) { p.status = status }
func (p *parcel) Write(b []byte) (int, error) {
	p.body = append(p.body, b...)
	return len(b), nil
}

// stranger asks as a master of another cluster would, with an epoch above all.
func (w *world) stranger(h *host) {
	m := &master{w: w, life: &life{}}
	c := wire.NewSecret().Client("http://"+h.id, h.party())
	c.HTTP = &http.Client{Transport: strange{&road{m: m, h: h}}}
	go func() {
		_ = within(10*time.Second, func(ctx context.Context) error {
			_, err := (&wire.Remote{Client: c}).Do(ctx, agent.Order{Effect: checkpoint.Effect{ID: 1, Epoch: 1 << 40, Action: checkpoint.Stop, Job: "job-1", Attempt: 1 << 60}})
			return err
		})
	}()
}

type strange struct{ k *road }

func (s strange) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if _, err := s.k.deliver(r.Context(), s.k.h, &parcel{path: r.URL.Path, header: r.Header.Clone(), body: body}, "a stranger has made"); err != nil {
		return nil, err
	}
	return nil, errRefused
}
