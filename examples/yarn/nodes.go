//go:build unix

// This file reads the nodes of a cluster, and what is held on them.

package yarn

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/managed"
)

// holding is an application and its containers that live.
type holding struct {
	application
	containers []container
}

// holdings are what applications have that have not ended.
func (y *yarn) holdings(ctx context.Context, apps []application) ([]holding, error) {
	var all []holding
	for _, a := range apps {
		if !a.isOver() {
			all = append(all, holding{application: a})
		}
	}
	return all, errors.Join(managed.Each(len(all), callers, func(i int) (err error) {
		all[i].containers, err = y.manager.containers(ctx, all[i].ID)
		return err
	})...)
}

// callers is how many requests are under way at the same time.
const callers = 16

// ownUse is what runs of elastic jobs have on each node.
// Amounts are what YARN has granted, which may be more than was asked for, as the node counts it too. A node
// without any is not in the map.
func ownUse(all []holding, kinds apportion.Kinds) map[string]apportion.Resources {
	own := map[string]apportion.Resources{}
	for i := range all {
		for _, c := range all[i].containers {
			// A master's own container is no part of a decision: it counts as somebody else's.
			if c.Priority != runPriority {
				continue
			}
			if own[c.Node] == nil {
				own[c.Node] = make(apportion.Resources, len(kinds))
			}
			for k, amount := range c.Allocated.vector(kinds) {
				own[c.Node][k] += amount
			}
		}
	}
	return own
}

// lookAtNodes adds the nodes.
// A node that YARN has lost and found again counts as down for as long as processes of before may live on it.
func (y *yarn) lookAtNodes(ctx context.Context, view *controller.View, all []holding) error {
	own := ownUse(all, y.kinds)
	nodes, err := y.manager.nodes(ctx)
	if err != nil {
		return err
	}
	ghosts := y.ghosts(ctx)
	for i := range nodes {
		s := serverOf(&nodes[i], own[nodes[i].ID], y.kinds)
		s.Down = cmp.Or(s.Down, ghosts[s.ID])
		view.Servers = append(view.Servers, s)
	}
	return nil
}

// serverOf reads a node. own is what runs of elastic jobs have there.
// Its capacity is what all others leave. own is nil where there are none, and where they are to count as others.
func serverOf(n *node, own apportion.Resources, kinds apportion.Kinds) controller.Server {
	label := ""
	if len(n.Labels) > 0 {
		label = n.Labels[0] // a node is in one partition
	}
	s := controller.Server{Server: apportion.Server{ID: n.ID, Labels: map[string]string{"host": n.Host, "rack": n.Rack, partition: label}}}
	// DECOMMISSIONING lets containers end, so that the controller leaves by checkpoints; every other state but RUNNING takes nothing.
	s.Draining = n.State == "DECOMMISSIONING"
	if n.State != "RUNNING" && !s.Draining {
		s.Down = strings.TrimSpace("YARN calls it " + n.State + " " + n.Health)
	}
	// Between two requests a container may have begun or ended, so that the own use may exceed the node's: others then use
	// nothing, and never less.
	s.Capacity = n.Total.vector(kinds)
	for k, used := range n.Used.vector(kinds) {
		if own != nil {
			used -= own[k]
		}
		s.Capacity[k] = max(0, s.Capacity[k]-max(0, used))
	}
	return s
}
