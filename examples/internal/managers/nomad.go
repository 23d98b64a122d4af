// This file reads answers of Nomad's API.

package managers

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/apportion/apportion"
)

// nomad gathers nodes, allocations and jobs.
type nomad struct {
	nodes       []nomadNode
	allocations []nomadAllocation
	jobs        []nomadJob
}

type nomadNode struct {
	ID         string
	Name       string
	Datacenter string
	NodeClass  string
	NodePool   string
	Status     string
	Drain      bool
	Eligible   string          `json:"SchedulingEligibility"`
	Resources  *nomadResources `json:"NodeResources"`
	Reserved   *nomadResources `json:"ReservedResources"`
}

// nomadResources are those of a node, or of a task of an allocation.
type nomadResources struct {
	CPU struct {
		Shares int64 `json:"CpuShares"`
	} `json:"Cpu"`
	Memory struct{ MemoryMB int64 }
	// Devices of a node list their instances, those of a task the IDs.
	Devices []struct {
		Type      string
		Instances []json.RawMessage
		DeviceIDs []string
	}
}

type nomadAllocation struct {
	ID            string
	NodeID        string
	Namespace     string
	JobID         string
	TaskGroup     string
	ClientStatus  string
	DesiredStatus string
	Allocated     *struct {
		Tasks map[string]nomadResources
	} `json:"AllocatedResources"`
}

type nomadJob struct {
	ID          string
	Namespace   string
	Type        string
	Status      string
	Stop        bool
	Priority    int64
	Datacenters []string
	NodePool    string
	Constraints []json.RawMessage
	TaskGroups  []struct {
		Name        string
		Count       int64
		Constraints []json.RawMessage
		Tasks       []struct {
			Constraints []json.RawMessage
			Resources   struct {
				CPU      int64
				MemoryMB int64
				Devices  []struct {
					Name        string
					Count       int64
					Constraints []json.RawMessage
				}
			}
		}
	}
}

func (n *nomad) take(document json.RawMessage) (bool, error) {
	var list []json.RawMessage
	if json.Unmarshal(document, &list) != nil {
		return n.object(document)
	}
	for _, text := range list {
		if taken, err := n.object(text); !taken || err != nil {
			return taken, err
		}
	}
	return true, nil
}

// object takes a node, an allocation or a job.
func (n *nomad) object(text json.RawMessage) (bool, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return false, nil
	}
	switch {
	case fields["TaskGroups"] != nil && fields["ID"] != nil:
		return true, appended(&n.jobs, text)
	case fields["ClientStatus"] != nil && fields["NodeID"] != nil:
		return true, appended(&n.allocations, text)
	case fields["NodeResources"] != nil || fields["Datacenter"] != nil:
		return true, appended(&n.nodes, text)
	}
	return false, nil
}

func (n *nomad) end(c *cluster) {
	names := make(map[string]string) // of nodes, by ID
	for v := range n.nodes {
		node := &n.nodes[v]
		names[node.ID] = node.Name
		n.node(c, node)
	}
	on := make(map[string]map[string]int64) // by group and server, what runs
	for v := range n.allocations {
		a := &n.allocations[v]
		if a.ClientStatus != "running" && a.ClientStatus != "pending" {
			continue
		}
		server := names[a.NodeID]
		if group := groupID(a.Namespace, a.JobID, a.TaskGroup); n.asks(a) {
			if on[group] == nil {
				on[group] = make(map[string]int64)
			}
			on[group][server]++
			continue
		}
		c.occupy(server, a.uses())
		if a.Allocated == nil {
			c.leaveOut("allocation", a.ID, "it does not say what it has: ask with resources=true")
		}
	}
	for v := range n.jobs {
		n.job(c, &n.jobs[v], on)
	}
}

func groupID(namespace, job, group string) string { return namespace + "/" + job + "/" + group }

// asks reports whether the job of an allocation is among the documents, and could stand elsewhere.
func (n *nomad) asks(a *nomadAllocation) bool {
	return slices.ContainsFunc(n.jobs, func(j nomadJob) bool { return j.ID == a.JobID && j.Namespace == a.Namespace && j.why() == "" })
}

func (n *nomad) node(c *cluster, node *nomadNode) {
	switch {
	case node.Status != "ready":
		c.leaveOut("node", node.Name, "it is %s", node.Status)
		return
	case node.Resources == nil:
		c.leaveOut("node", node.Name, "it does not say what it has: ask with resources=true")
		return
	case c.servers[node.Name] != nil:
		c.leaveOut("node", node.Name, "another node has its name")
		return
	}
	has := node.Resources.quantities()
	if node.Reserved != nil {
		for kind, q := range node.Reserved.quantities() {
			has[kind] = max(0, has[kind]-q)
		}
	}
	c.servers[node.Name] = &server{has: has, cordoned: node.Drain || node.Eligible == "ineligible",
		labels: map[string]string{"datacenter": node.Datacenter, "class": node.NodeClass, "pool": poolOf(node.NodePool)}}
}

// poolOf names the pool of nodes that releases before pools have.
func poolOf(name string) string {
	if name == "" {
		return "default"
	}
	return name
}

// quantities returns processors in MHz, memory in MB, and devices by type.
func (r *nomadResources) quantities() map[string]int64 {
	q := map[string]int64{"cpu": r.CPU.Shares, "memory": r.Memory.MemoryMB}
	for _, d := range r.Devices {
		q[d.Type] += int64(len(d.Instances) + len(d.DeviceIDs))
	}
	return q
}

func (a *nomadAllocation) uses() map[string]int64 {
	sum := make(map[string]int64)
	if a.Allocated != nil {
		for _, task := range a.Allocated.Tasks {
			for kind, q := range task.quantities() {
				sum[kind] = plus(sum[kind], q)
			}
		}
	}
	return sum
}

// why says what keeps a job from being an application; empty: nothing.
func (j *nomadJob) why() string {
	constraints := len(j.Constraints)
	for _, g := range j.TaskGroups {
		constraints += len(g.Constraints)
		for _, t := range g.Tasks {
			constraints += len(t.Constraints)
			for _, d := range t.Resources.Devices {
				constraints += len(d.Constraints)
			}
		}
	}
	switch {
	case j.Type != "service" && j.Type != "batch":
		return "it is of type " + j.Type
	case constraints > 0:
		return "it has constraints"
	}
	return ""
}

// job adds each group of a job.
func (n *nomad) job(c *cluster, j *nomadJob, on map[string]map[string]int64) {
	if j.Stop || j.Status == "dead" {
		return
	}
	if why := j.why(); why != "" {
		c.leaveOut("job", j.Namespace+"/"+j.ID, "%s", why)
		return
	}
	for _, g := range j.TaskGroups {
		id := groupID(j.Namespace, j.ID, g.Name)
		// One that is to have fewer has its allocations until they end.
		w := work{id: id, count: g.Count, on: on[id], priority: j.Priority, demand: make(map[string]int64),
			requires: []apportion.Requirement{{Key: "pool", Op: apportion.In, Values: []string{poolOf(j.NodePool)}}}}
		for _, t := range g.Tasks {
			w.demand["cpu"] = plus(w.demand["cpu"], t.Resources.CPU)
			w.demand["memory"] = plus(w.demand["memory"], t.Resources.MemoryMB)
			for _, d := range t.Resources.Devices {
				w.demand[deviceType(d.Name)] = plus(w.demand[deviceType(d.Name)], max(1, d.Count))
			}
		}
		if len(j.Datacenters) > 0 && !slices.Contains(j.Datacenters, "*") {
			w.requires = append(w.requires, apportion.Requirement{Key: "datacenter", Op: apportion.In, Values: j.Datacenters})
		}
		if w.count = max(w.count, running(w.on)); w.count < 1 {
			c.leaveOut("group", id, "it asks for no allocations")
			continue
		}
		c.work = append(c.work, w)
	}
}

// deviceType returns gpu of gpu, nvidia/gpu and nvidia/gpu/a100.
func deviceType(name string) string {
	vendor, rest, named := strings.Cut(name, "/")
	if !named {
		return vendor
	}
	kind, _, _ := strings.Cut(rest, "/")
	return kind
}
