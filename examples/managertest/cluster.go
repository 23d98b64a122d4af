//go:build unix

// This file tells the story that is the same on every cluster: jobs share it, its daemons die, its nodes are drained, and its users
// change their minds.

package managertest

import (
	"math/rand/v2"
	"time"
)

// Cluster is what a test can do to a cluster and to its jobs, each by the manager's own means.
type Cluster struct {
	// Nodes are the names of all nodes.
	Nodes []string
	// Daemons are killed and started again by Kill and Start.
	Daemons     []Daemon
	Kill, Start func(name string)
	// Drain begins to drain a node, or ends that; nil: a test does it otherwise.
	Drain func(node string, on bool)
	// Submit submits an elastic job with the most containers that it can use, its steps and its weight, and returns its ID.
	Submit func(name string, most, steps, weight int) string
	// Cancel cancels a job as its user does, and Jobs are the elastic jobs that have not ended.
	Cancel func(id string)
	Jobs   func() []string
}

// Daemon is a sort of daemons, their names, and for how long one of them may be away.
type Daemon struct {
	Sort        string
	Names       []string
	Least, Most time.Duration
}

// more submits another job, which ends by itself after a while, so that arrivals and ends happen among the faults as well.
func (b *Bench) more(c *Cluster, r *rand.Rand) { c.Submit(b.Another(r)) }

func (b *Bench) faultsOf(c *Cluster) []Fault {
	one := func(r *rand.Rand, of []string) string { return of[r.IntN(len(of))] }
	list := []Fault{{Name: "a job is cancelled by its user, and another submitted", Of: "job", Do: func(r *rand.Rand) {
		if ids := c.Jobs(); len(ids) > 0 {
			c.Cancel(one(r, ids))
		}
		b.more(c, r)
	}}}
	for _, d := range c.Daemons {
		list = append(list, Fault{Name: "a " + d.Sort + " is killed for a while", Of: d.Sort, Do: func(r *rand.Rand) {
			name := one(r, d.Names)
			c.Kill(name)
			Wait(r, d.Least, d.Most)
			c.Start(name)
		}})
	}
	if c.Drain != nil {
		list = append(list, Fault{Name: "a node is drained", Of: "drain", Do: func(r *rand.Rand) {
			node := one(r, c.Nodes)
			c.Drain(node, true)
			Wait(r, time.Second, 6*time.Second)
			c.Drain(node, false)
		}})
	}
	return list
}

// Share has jobs come, share a cluster of 24 containers, finish, which done waits for, and be withdrawn. The second job, which keeps 12
// containers, is returned.
func (b *Bench) Share(c *Cluster, done func(id string)) (id string) {
	b.Helper()
	first := c.Submit("a", 24, 100000, 1)
	b.Holds(map[string]int{first: 24})
	second := c.Submit("b", 12, 100000, 2)
	b.Holds(map[string]int{first: 12, second: 12})
	done(c.Submit("c", 4, 20, 1))
	b.Holds(map[string]int{first: 12, second: 12})
	c.Cancel(first)
	b.Holds(map[string]int{second: 12})
	b.Check()
	return second
}
