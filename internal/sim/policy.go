// This file holds what a scheduler sees and answers: Policy and State.

package sim

import (
	"context"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// Policy is a scheduler. The simulator asks it once for every instant at which applications arrive
// or complete.
type Policy interface {
	// Name is a short name for tables and figures.
	Name() string
	// Decide returns who holds what from now on, as a fresh Allocation; applications that it
	// leaves out hold nothing. It must not overfill a server.
	Decide(ctx context.Context, state *State) (alloc.Allocation, error)
}

// State is the cluster at a decision. It is the simulator's own: a policy neither changes nor
// keeps it.
type State struct {
	Now     time.Duration
	Kinds   apportion.Kinds
	Servers []apportion.Server
	// Apps are the applications that have arrived and not completed, in the order of submission.
	Apps []*App
	// Running is who held what until now, without those that have completed.
	Running alloc.Allocation
}

// Problem returns the state as a problem of package alloc, with both thresholds zero.
func (s *State) Problem() *alloc.Problem {
	p := &alloc.Problem{
		Kinds:        s.Kinds,
		Servers:      s.Servers,
		Applications: make([]alloc.Application, len(s.Apps)),
		Previous:     s.Running,
	}
	for i, app := range s.Apps {
		p.Applications[i] = app.Application
	}
	return p
}
