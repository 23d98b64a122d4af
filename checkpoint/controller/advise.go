// This file implements Advisor: the decisions of a controller for somebody else to carry out.

package controller

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/apportion/apportion/alloc"
)

// Advisor looks at a cluster and decides, again and again, and changes nothing there: an autoscaler, which sees one job at a
// time, asks it for the joint decision and carries out its totals. Which containers stand on which server is the
// manager's choice then, and what was decided of that is lost. Its methods are safe for concurrent use.
type Advisor struct {
	config Config
	// running says what the jobs have; there is no protocol here that would know.
	running func(context.Context) (alloc.Allocation, error)
	// waits is what waits beside the jobs. The goroutine of Run alone has it.
	waits waits

	// mu guards last, which Run writes and Last reads.
	mu   sync.Mutex
	last Taken
}

// NewAdvisor returns an advisor. Of the Config it uses Cluster, of which it calls Look alone, Problem, Look, Reserve, Standing,
// Hold, Decide, Report and Log. running says what the jobs have, by the manager's word; it is called after Look.
func NewAdvisor(config Config, running func(context.Context) (alloc.Allocation, error)) *Advisor {
	return &Advisor{config: config.filled(), running: running}
}

// Run decides until the context ends: whenever servers, jobs or what these have is not as it was. While the cluster cannot be
// seen there is no decision, but a Fault: what was decided before may be wrong by now.
func (a *Advisor) Run(ctx context.Context) {
	// last is the shape of the problem that was decided last; its zero is that of no problem, so that the first look
	// decides.
	var last shape
	for {
		taken, err := a.decide(ctx, &last)
		// An error because the context has ended is the end, and no fault of the cluster.
		if err != nil && ctx.Err() == nil {
			a.config.Report(err)
			taken = &Taken{At: time.Now(), Fault: err.Error()}
		}
		if taken != nil {
			a.mu.Lock()
			a.last = *taken
			a.mu.Unlock()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(a.config.Look):
		}
	}
}

// decide takes a decision if the shape of the problem is not the last one; nil: it is.
func (a *Advisor) decide(ctx context.Context, last *shape) (*Taken, error) {
	// The shape is kept only where all has gone well: after a fault the next look decides anew.
	before := *last
	*last = shape{}
	p, others, err := problemOf(ctx, a.config, a.running, a.count)
	if err != nil {
		return nil, err
	}
	now := shapeOf(p)
	// Servers, jobs and what these have are as they were, and so is the answer. Labels count as well, since they are written out.
	if now == before {
		*last = now
		return nil, nil
	}
	// A decision is begun after the look, so that At is the age of what it was taken on, to a few milliseconds.
	taken := &Taken{At: time.Now()}
	if taken.Problem, taken.Decision, err = decideBeside(ctx, a.config.Decide, p, p, others); err != nil {
		return nil, err
	}
	taken.Took = time.Since(taken.At)
	logChanges(a.config.Log, taken)
	*last = now
	return taken, nil
}

func (a *Advisor) count(view *View) {
	last := a.Last()
	a.waits.count(view, last.hasRoom, a.config.Hold, time.Now())
}

// Last returns the newest decision.
func (a *Advisor) Last() Taken {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

// Handler answers GET /decision and GET /explain as [Controller.Handler] does, for whoever shows the token.
func (a *Advisor) Handler(token string) http.Handler {
	mux := http.NewServeMux()
	handleDecision(mux, token, a.Last)
	return mux
}
