//go:build unix

// This file sets the capacities of queues by Dorm's shares, for applications whose containers nobody but themselves can
// change: what they deserve is what their queues get.

package yarn

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
)

// queue is a queue of the CapacityScheduler, by percentages of its parent.
type queue struct {
	Path       string  `json:"queuePath"`
	Capacity   float64 `json:"capacity"`
	Capacities struct {
		ByPartition list[partitionCapacity] `json:"queueCapacitiesByPartition"`
	} `json:"capacities"`
	Queues struct {
		Queue list[queue] `json:"queue"`
	} `json:"queues"`
}

// queues reads the queues below root.
func (m *manager) queues(ctx context.Context) (queue, error) {
	var answer struct {
		Scheduler struct {
			Info queue `json:"schedulerInfo"`
		} `json:"scheduler"`
	}
	err := m.get(ctx, "/ws/v1/cluster/scheduler", &answer)
	return answer.Scheduler.Info, err
}

// tenant is an application that runs or waits, and what it has and wants.
type tenant struct {
	application
	Type       string `json:"applicationType"`
	Containers int64  `json:"runningContainers"`
	// Requests is what it asks for, by node, by rack, and in all.
	Requests list[struct {
		Capability amounts  `json:"capability"`
		Containers quantity `json:"numContainers"`
		Where      string   `json:"resourceName"`
		Partition  string   `json:"nodeLabelExpression"`
	}] `json:"resourceRequests"`
	Resources struct {
		ByPartition list[struct {
			Used    amounts `json:"used"`
			Pending amounts `json:"pending"`
		}] `json:"resourceUsagesByPartition"`
	} `json:"resourceInfo"`
}

// tenants lists all applications that run or wait.
// Those of elastic jobs are among them.
func (m *manager) tenants(ctx context.Context) ([]tenant, error) {
	var answer struct {
		Apps struct {
			App list[tenant] `json:"app"`
		} `json:"apps"`
	}
	err := m.get(ctx, "/ws/v1/cluster/apps?states=accepted,running", &answer)
	return answer.Apps.App, err
}

// used is what an application has, in all partitions.
// Shares are of the whole cluster, so that it does not matter in which partition it has what.
func (t *tenant) used(kinds apportion.Kinds) apportion.Resources {
	v := make(apportion.Resources, len(kinds))
	for i := range t.Resources.ByPartition {
		for k, amount := range t.Resources.ByPartition[i].Used.vector(kinds) {
			v[k] += amount
		}
	}
	return v
}

// rigid is an application for the optimizer: containers of one size, the average of those that it has, up to as many as it
// asks for. Which of them it really gets is YARN's choice. False: it neither has nor asks for anything.
// Sizes are rounded up, so that what is decided fits. An application that has no container yet counts as
// one container of all that it wants.
func rigid(t *tenant, kinds apportion.Kinds) (alloc.Application, bool) {
	has := t.used(kinds)
	wants := has.Clone()
	for i := range t.Resources.ByPartition {
		for k, amount := range t.Resources.ByPartition[i].Pending.vector(kinds) {
			wants[k] += amount
		}
	}
	// Without a container its demand is all that it asks for, in one piece.
	a := alloc.Application{ID: t.ID, Weight: 1, Form: alloc.Form{Max: 1, Demand: wants.Clone()}}
	if t.Containers > 0 {
		for k := range has {
			a.Demand[k] = (has[k] + t.Containers - 1) / t.Containers
		}
		// The kind of which it asks for most containers decides.
		for k, each := range a.Demand {
			if each > 0 {
				// Rounded down: what is left over is less than a container.
				a.Max = max(a.Max, wants[k]/each)
			}
		}
	}
	return a, slices.Max(a.Demand) > 0
}

// leftServers are the nodes that are up, with what elastic jobs leave of them, and what all nodes have.
// A node that is drained is left out: nothing new is placed there.
func (y *yarn) leftServers(ctx context.Context) (servers []apportion.Server, total apportion.Resources, err error) {
	nodes, err := y.manager.nodes(ctx)
	if err != nil {
		return nil, nil, err
	}
	// Those of other controllers are elastic as well, and keep what they have.
	apps, err := y.manager.applications(ctx)
	if err != nil {
		return nil, nil, err
	}
	all, err := y.holdings(ctx, apps)
	if err != nil {
		return nil, nil, err
	}
	own := ownUse(all, y.kinds)
	total = make(apportion.Resources, len(y.kinds))
	for i := range nodes {
		s := serverOf(&nodes[i], nil, y.kinds)
		if s.Down != "" || s.Draining {
			continue
		}
		// The total, since everything but elastic jobs is decided about here.
		s.Capacity = nodes[i].Total.vector(y.kinds)
		for k := range s.Capacity {
			total[k] += s.Capacity[k]
			if used := own[s.ID]; used != nil {
				s.Capacity[k] = max(0, s.Capacity[k]-used[k])
			}
		}
		servers = append(servers, s.Server)
	}
	return servers, total, nil
}

// deserve decides what every application that is not elastic deserves of what the elastic ones leave, and what that makes
// for the queue of each: parts of the cluster, by path. The shares are by dominant resource.
// Elastic jobs keep what they have, and their queues a part for it. Nothing of the decision is carried out
// by containers: YARN moves them itself when the queues' capacities change.
func (y *yarn) deserve(ctx context.Context, theta1 float64) (p *alloc.Problem, d *alloc.Decision, parts map[string]float64, err error) {
	servers, total, err := y.leftServers(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	tenants, err := y.manager.tenants(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	// Theta2 is 1, since YARN does not move containers for a decision and so no adjustment needs to be
	// bounded.
	p = &alloc.Problem{Kinds: y.kinds, Servers: servers, Theta1: theta1, Theta2: 1, Applications: []alloc.Application{}}
	parts = map[string]float64{}
	queues := map[string]string{}
	for i := range tenants {
		t := &tenants[i]
		if t.Type == applicationType {
			parts[t.Queue] += dominant(t.used(y.kinds), 1, total)
			continue
		}
		if a, wants := rigid(t, y.kinds); wants {
			p.Applications = append(p.Applications, a)
			queues[a.ID] = t.Queue
		}
	}
	if d, err = alloc.Reallocate(ctx, p, nil); err != nil {
		return nil, nil, nil, err
	}
	// Shares are of what elastic jobs leave, and queues are parts of all. d.Shares and p.Applications are in one order.
	for i, share := range d.Shares {
		parts[queues[share.ID]] += dominant(p.Applications[i].Demand, share.Containers, total)
	}
	return p, d, parts, nil
}

// dominant is the dominant share of so many containers.
func dominant(demand apportion.Resources, containers int64, total apportion.Resources) float64 {
	share := 0.0
	for k := range total {
		if total[k] > 0 {
			share = max(share, float64(demand[k])*float64(containers)/float64(total[k]))
		}
	}
	return share
}

// leastPart is what a queue has at least, in hundredths of a percent: its next application must be able to begin.
// Without it an application that comes to an empty queue could not even start its master.
const leastPart = 100

// whole is all of a parent, in hundredths of a percent.
const whole = 100_00

// capacities turns parts of the cluster into the capacities of all queues below one, by path, in hundredths of a percent of
// the parent; those of siblings add up to all of it. Where nobody below a parent deserves anything all stays as it is.
// Parts are rounded down, and what is left by that goes to the largest. Two siblings that deserve 0.3 and 0.1 get 74.50 and
// 25.50 %: one percent each, and of the other 98 three quarters and one.
func capacities(parent *queue, parts map[string]float64, into map[string]int64) {
	children := parent.Queues.Queue
	if len(children) == 0 {
		return
	}
	shares, sum := make([]float64, len(children)), 0.0
	for i := range children {
		shares[i] = partOf(&children[i], parts)
		sum += shares[i]
		capacities(&children[i], parts, into)
	}
	if sum == 0 {
		return
	}
	free := int64(whole - leastPart*len(children))
	if free < 0 {
		return // there are so many that none could have its least
	}
	left, largest := int64(whole), 0
	for i := range children {
		into[children[i].Path] = leastPart + int64(math.Floor(float64(free)*shares[i]/sum))
		left -= into[children[i].Path]
		if shares[i] > shares[largest] {
			largest = i
		}
	}
	into[children[largest].Path] += left // what was rounded off
}

// partOf is what a queue and those below it deserve.
func partOf(q *queue, parts map[string]float64) float64 {
	part := parts[q.Path]
	for i := range q.Queues.Queue {
		part += partOf(&q.Queues.Queue[i], parts)
	}
	return part
}

// update is a change of the scheduler's configuration, as its web service takes it.
type update struct {
	XMLName xml.Name      `xml:"sched-conf"`
	Queues  []queueUpdate `xml:"update-queue"`
}

// queueUpdate is the change of one property of one queue, whose name is its path.
type queueUpdate struct {
	Name  string `xml:"queue-name"`
	Entry struct {
		Key   string `xml:"key"`
		Value string `xml:"value"`
	} `xml:"params>entry"`
}

// set sets capacities. All change at once, or none.
// It needs a ResourceManager whose configuration is kept in a store that can be changed, and one that lets
// this user change it; YARN's refusal is the error.
func (m *manager) set(ctx context.Context, wanted map[string]int64) error {
	var u update
	for path, part := range wanted {
		one := queueUpdate{Name: path}
		// It is the property yarn.scheduler.capacity.PATH.capacity.
		one.Entry.Key, one.Entry.Value = "capacity", percent(part)
		u.Queues = append(u.Queues, one)
	}
	slices.SortFunc(u.Queues, func(a, b queueUpdate) int { return strings.Compare(a.Name, b.Name) })
	text, err := xml.Marshal(u)
	if err != nil {
		return err
	}
	_, err = m.do(ctx, "PUT", "/ws/v1/cluster/scheduler-conf?user.name="+m.user, text)
	return err
}

// percent writes hundredths of a percent.
func percent(part int64) string { return fmt.Sprintf("%d.%02d", part/100, part%100) }

// shareQueues is the program for queues: it prints what applications deserve and why, and what that makes of the queues,
// and sets it if it is told to.
func shareQueues(ctx context.Context, c conf, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("apportion-yarn queues", flag.ContinueOnError)
	flags.SetOutput(stderr)
	theta1 := flags.Float64("theta1", 0.2, "how unfair a decision may be, from 0 to 1")
	apply := flags.Bool("apply", false, "set the capacities; without, they are printed only")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return newYARN(c, daemon.Guarded{}).shareQueues(ctx, *theta1, *apply, stdout)
}

// shareQueues decides and prints, and sets what was printed if apply is true.
// What it prints comes first: whoever reads it sees what is about to be set, also where YARN refuses that.
func (y *yarn) shareQueues(ctx context.Context, theta1 float64, apply bool, stdout io.Writer) error {
	root, err := y.manager.queues(ctx)
	if err != nil {
		return err
	}
	if len(root.Queues.Queue) == 0 {
		return errors.New("the scheduler has no queues with capacities")
	}
	p, d, parts, err := y.deserve(ctx, theta1)
	if err != nil {
		return err
	}
	explanation, err := alloc.Explain(p, d)
	if err != nil {
		return err
	}
	// A queue below whose parent nobody deserves anything is not in it, and stays as it is.
	wanted := map[string]int64{}
	capacities(&root, parts, wanted)
	if _, err := fmt.Fprint(stdout, explanation, "\n"); err != nil {
		return err
	}
	if err := tell(stdout, &root, wanted); err != nil || !apply || len(wanted) == 0 {
		return err
	}
	return y.manager.set(ctx, wanted)
}

// tell prints what becomes of the capacities, parents before their children.
func tell(stdout io.Writer, q *queue, wanted map[string]int64) error {
	for i := range q.Queues.Queue {
		child := &q.Queues.Queue[i]
		now := percent(int64(math.Round(child.Capacity * 100)))
		if part, changes := wanted[child.Path]; changes {
			now += " % -> " + percent(part)
		}
		if _, err := fmt.Fprintf(stdout, "queue %s: %s %%\n", child.Path, now); err != nil {
			return err
		}
		if err := tell(stdout, child, wanted); err != nil {
			return err
		}
	}
	return nil
}

// partitionCapacity is what a queue may have of a partition, in percent of the whole partition.
// Absolute and Most are percentages of the whole partition, and not of the parent.
type partitionCapacity struct {
	Name     string  `json:"partitionName"`
	Absolute float64 `json:"absoluteCapacity"`
	Most     float64 `json:"absoluteMaxCapacity"`
}
