// This file reads a Nomad cluster: nodes with what is left on them, and the elastic jobs.

package nomad

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
)

// Look implements controller.Cluster. Where nothing has changed it makes no call, see lists; else three, and one for each job and each
// node that has changed.
func (n *nomad) Look(ctx context.Context) (*controller.View, error) {
	all, err := n.lists(ctx)
	if err != nil {
		return nil, err
	}
	view := &controller.View{Rejected: map[string]string{}}
	if err := n.readJobs(ctx, view, slices.Clone(all.jobs)); err != nil {
		return nil, err
	}
	if view.Waiting, err = n.waiting(ctx, all.jobs); err != nil {
		return nil, err
	}
	used := usedByOthers(all.allocations, n.isOwn)
	view.Servers = make([]controller.Server, len(all.nodes))
	err = sideBySide(len(all.nodes), func(i int) (err error) {
		view.Servers[i], err = n.serverOf(ctx, all.nodes[i], used[all.nodes[i].ID])
		return err
	})
	return view, err
}

// list lists allocations with what they have, jobs with their meta keys, and nodes, and notes which jobs are children.
// Allocations come first: one of a child that is registered in between would else count as somebody else's, and its node would
// look full. One of a child that is forgotten in between does, until it has ended.
func (n *nomad) list(ctx context.Context) (*lists, error) {
	resources := func() *api.QueryOptions {
		return (&api.QueryOptions{Params: map[string]string{"resources": "true"}}).WithContext(ctx)
	}
	var all lists
	var err error
	if all.allocations, _, err = n.client.Allocations().List(resources()); err != nil {
		return nil, err
	}
	fields := &api.JobListOptions{Fields: &api.JobListFields{Meta: true}}
	if all.jobs, _, err = n.client.Jobs().ListOptions(fields, (&api.QueryOptions{}).WithContext(ctx)); err != nil {
		return nil, err
	}
	if all.nodes, _, err = n.client.Nodes().List(resources()); err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, stub := range all.jobs {
		if isChild(stub.ID, stub.Meta) {
			own[stub.ID] = true
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.own = own
	return &all, nil
}

// readJobs reads the elastic jobs, in the order in which they were submitted first.
// A job that was changed is read again, and one that is gone is forgotten. One whose child cannot be registered, since
// somebody else has a job of that name, is rejected for as long as that is there.
func (n *nomad) readJobs(ctx context.Context, view *controller.View, stubs []*api.JobListStub) error {
	slices.SortStableFunc(stubs, func(a, b *api.JobListStub) int { return int(a.CreateIndex) - int(b.CreateIndex) })
	if err := n.readChanged(ctx, stubs); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	there, foreign := map[string]bool{}, map[string]bool{}
	for _, stub := range stubs {
		foreign[stub.ID] = !n.own[stub.ID]
	}
	for _, stub := range stubs {
		if !isElastic(stub.Meta) || n.own[stub.ID] {
			continue
		}
		if stub.Stop {
			view.Withdrawn = append(view.Withdrawn, stub.ID)
			continue
		}
		there[stub.ID] = true
		switch known := n.jobs[stub.ID]; {
		case known.fault != nil:
			view.Rejected[stub.ID] = known.fault.Error()
		case foreign[childOf(stub.ID)] && !n.advised:
			view.Rejected[stub.ID] = errForeign(stub.ID).Error()
		default:
			view.Jobs = append(view.Jobs, known.job)
		}
	}
	maps.DeleteFunc(n.jobs, func(id string, _ read) bool { return !there[id] })
	return nil
}

// readChanged reads the elastic jobs that are not known as they are now.
func (n *nomad) readChanged(ctx context.Context, stubs []*api.JobListStub) error {
	var changed []*api.JobListStub
	n.mu.Lock()
	for _, stub := range stubs {
		if isElastic(stub.Meta) && !n.own[stub.ID] && !stub.Stop && n.jobs[stub.ID].index != stub.JobModifyIndex {
			changed = append(changed, stub)
		}
	}
	n.mu.Unlock()
	return sideBySide(len(changed), func(i int) error {
		job, _, err := n.client.Jobs().Info(changed[i].ID, (&api.QueryOptions{}).WithContext(ctx))
		if err != nil {
			return err
		}
		known := read{index: changed[i].JobModifyIndex}
		known.job, known.fault = jobOf(job, n.advised)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.jobs[changed[i].ID] = known
		return nil
	})
}

// isOwn reports whether the allocations of a job of Nomad's are those of an elastic job: its child's, or for an autoscaler its
// own.
func (n *nomad) isOwn(id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	known, there := n.jobs[id]
	return !n.advised && n.own[id] || n.advised && there && known.fault == nil
}

// usedByOthers is what the allocations of other jobs take of each node, by the node's ID.
// An allocation that has ended takes nothing.
func usedByOthers(allocations []*api.AllocationListStub, isOwn func(job string) bool) map[string]apportion.Resources {
	used := map[string]apportion.Resources{}
	for _, a := range allocations {
		if isOwn(a.JobID) || a.AllocatedResources == nil || a.ClientStatus != api.AllocClientStatusRunning && a.ClientStatus != api.AllocClientStatusPending {
			continue
		}
		if used[a.NodeID] == nil {
			used[a.NodeID] = make(apportion.Resources, len(kinds))
		}
		for _, task := range a.AllocatedResources.Tasks {
			used[a.NodeID][0] += task.Cpu.CpuShares
			used[a.NodeID][1] += task.Memory.MemoryMB
			for _, device := range task.Devices {
				if device.Type == "gpu" {
					used[a.NodeID][2] += int64(len(device.DeviceIDs))
				}
			}
		}
	}
	return used
}

// serverOf reads a node. Its ID as a server is its name, which users know; names must be unique.
// Capacity never falls below 0.
func (n *nomad) serverOf(ctx context.Context, stub *api.NodeListStub, used apportion.Resources) (controller.Server, error) {
	s := controller.Server{Server: apportion.Server{ID: stub.Name, Capacity: make(apportion.Resources, len(kinds)),
		Cordoned: stub.SchedulingEligibility != api.NodeSchedulingEligible}, Draining: stub.Drain}
	if stub.Status != api.NodeStatusReady {
		s.Down = "Nomad calls it " + stub.Status
	}
	node, err := n.node(ctx, stub)
	if err != nil {
		return s, err
	}
	s.Labels = labelsOf(node)
	if stub.Drain && node.DrainStrategy != nil {
		s.Deadline = node.DrainStrategy.ForceDeadline
	}
	if r := stub.NodeResources; r != nil {
		s.Capacity[0], s.Capacity[1] = r.Cpu.CpuShares, r.Memory.MemoryMB
		for _, device := range r.Devices {
			if device.Type == "gpu" {
				s.Capacity[2] += int64(len(device.Instances))
			}
		}
	}
	if r := stub.ReservedResources; r != nil {
		s.Capacity[0] -= int64(r.Cpu.CpuShares)
		s.Capacity[1] -= int64(r.Memory.MemoryMB)
	}
	for k := range used {
		s.Capacity[k] -= used[k]
	}
	for k := range s.Capacity {
		s.Capacity[k] = max(0, s.Capacity[k])
	}
	return s, nil
}

// node reads a node again if it has changed.
// Labels and drains are in the node alone, and not in the list.
func (n *nomad) node(ctx context.Context, stub *api.NodeListStub) (*api.Node, error) {
	n.mu.Lock()
	known := n.nodes[stub.ID]
	n.mu.Unlock()
	if known != nil && known.ModifyIndex == stub.ModifyIndex {
		return known, nil
	}
	node, _, err := n.client.Nodes().Info(stub.ID, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.nodes[stub.ID] = node
	return node, nil
}

// volumeLabel begins the labels of a node's own volumes, which Nomad calls hostVolume.
const (
	volumeLabel = "volume."
	hostVolume  = "host"
)

// labelsOf are the volumes, and the variables of a node that constraints name, without ${ and }.
func labelsOf(node *api.Node) map[string]string {
	labels := map[string]string{"node.datacenter": node.Datacenter, "node.class": node.NodeClass, "node.pool": node.NodePool,
		"node.unique.name": node.Name, "node.unique.id": node.ID}
	for key, text := range node.Attributes {
		labels["attr."+key] = text
	}
	for key, text := range node.Meta {
		labels["meta."+key] = text
	}
	for name := range node.HostVolumes {
		labels[volumeLabel+name] = "there"
	}
	maps.DeleteFunc(labels, func(_, text string) bool { return text == "" })
	return labels
}

// Ended implements controller.Cluster: the child says how the job has ended, and the job is stopped, as its user would stop it.
func (n *nomad) Ended(ctx context.Context, job string, how checkpoint.Ending, why string) error {
	ended := string(how)
	if why != "" {
		ended += ": " + why
	}
	err := n.update(ctx, job, func(now *note, j *api.Job) (*api.Job, error) {
		if j == nil || !isChild(*j.ID, j.Meta) || now.ended == ended {
			return nil, nil
		}
		now.ended = ended
		return j, nil
	})
	if err != nil {
		return err
	}
	_, _, err = n.client.Jobs().Deregister(job, false, (&api.WriteOptions{}).WithContext(ctx))
	return err
}

// Forget implements controller.Cluster: what was noted of the job's attempts goes. The child stays until Nomad collects it, dead,
// with what its containers came to: a batch job like others.
// A job of somebody else with the name of a child stays as it is.
func (n *nomad) Forget(ctx context.Context, job string) error {
	return n.update(ctx, job, func(now *note, j *api.Job) (*api.Job, error) {
		if j == nil || !isChild(*j.ID, j.Meta) || now.attempt == 0 && now.stopped == 0 {
			return nil, nil
		}
		now.attempt, now.stopped = 0, 0
		n.child(job).stopped.Store(0)
		return emptied(j), nil
	})
}

// Running implements external.Cluster.
func (n *nomad) Running(ctx context.Context) (alloc.Allocation, error) {
	all, err := n.lists(ctx)
	if err != nil {
		return nil, err
	}
	running := alloc.Allocation{}
	for _, a := range all.allocations {
		job := strings.TrimSuffix(a.JobID, childEnding)
		if !n.isOwn(a.JobID) || a.ClientStatus != api.AllocClientStatusRunning || a.DesiredStatus != api.AllocDesiredStatusRun {
			continue
		}
		if running[job] == nil {
			running[job] = map[string]int64{}
		}
		running[job][a.NodeName]++
	}
	return running, nil
}
