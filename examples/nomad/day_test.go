// This file plays a day of a real trace on a real Nomad cluster: by Nomad alone, and with the controller beside it.

package nomad

import (
	"math/bits"
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/day"
	"github.com/apportion/apportion/examples/managertest/processes"
)

// Controlled implements managertest.Player.
func (b *bench) Controlled() *managertest.Bench { return b.Bench }

// Elastic implements managertest.Player.
func (b *bench) Elastic(j *day.Job, argv []string) string {
	b.register(b.job(j.Name, argv, map[string]string{metaPrefix + "max": strconv.FormatInt(j.Max, 10)}))
	return j.Name
}

// Fixed implements managertest.Player: a batch job with a count. Nomad starts the containers that have room, whatever
// becomes of the others; those give up after a while, and are started again.
// With Preempt the allocations of a job make room for those of one with fewer containers, and begin anew when there is room.
func (b *bench) Fixed(policy string, j *day.Job, argv []string, env map[string]string) string {
	job := b.job(j.Name, argv, nil)
	env["APPORTION_RANK"], env["APPORTION_SERVER"] = "${NOMAD_ALLOC_INDEX}", "${node.unique.name}"
	group := job.TaskGroups[0]
	if policy == managertest.Preempt {
		b.preempt()
		job.Priority = ptr(priority(j))
	}
	job.Type, group.Count, group.Tasks[0].Env = ptr(api.JobTypeBatch), ptr(int(j.Fixed)), env
	group.RestartPolicy = &api.RestartPolicy{Attempts: ptr(1000), Interval: ptr(24 * time.Hour), Delay: ptr(time.Second), Mode: ptr("fail")}
	b.register(job)
	return j.Name
}

// priority is that of a job among those that preempt each other: lower for each binary digit of its number of containers. Nomad lets
// one of 10 more go first.
func priority(j *day.Job) int { return 70 - 10*bits.Len64(uint64(j.Fixed)) }

// preempt has Nomad end allocations for others of a higher priority, which it does not for batch jobs unless it is told.
func (b *bench) preempt() {
	b.Bench.Helper()
	config := &api.SchedulerConfiguration{SchedulerAlgorithm: api.SchedulerAlgorithmBinpack,
		PreemptionConfig: api.PreemptionConfig{BatchSchedulerEnabled: true, ServiceSchedulerEnabled: true}}
	if _, _, err := b.client.Operator().SchedulerSetConfiguration(config, nil); err != nil {
		b.Bench.Fatal(err)
	}
}

// Left implements managertest.Player.
func (b *bench) Left() int {
	stubs, _, err := b.client.Jobs().ListOptions(&api.JobListOptions{Fields: &api.JobListFields{Meta: true}}, nil)
	if err != nil {
		b.retried(err)
		return -1
	}
	left := 0
	for _, stub := range stubs {
		if !isChild(stub.ID, stub.Meta) && !stub.Stop && (isElastic(stub.Meta) || stub.Status != "dead") {
			left++
		}
	}
	return left
}

// daily is a cluster of three nodes on which days and hours are played.
var daily = managertest.Daily{Manager: "nomad", Slots: 24, Policies: []string{managertest.Fixed, managertest.Preempt, managertest.Elastic}, Short: []string{managertest.Fixed, managertest.Elastic}, Bench: func(t *testing.T) managertest.Player {
	return newBench(t, nodes...)
}}

func TestDay(t *testing.T) { daily.Day(t) }

func TestHours(t *testing.T) { daily.Hours(t) }

// Nomad counts a container as complete that it never ran: its client was gone and came back before there was room elsewhere.
func TestLostIsComplete(t *testing.T) {
	b := newBench(t, "n1")
	is := func(what string, is func(a *api.AllocationListStub) bool) {
		t.Helper()
		processes.Eventually(b.Bench, what, 60*time.Second, func() bool {
			list, _, err := b.client.Jobs().Allocations("plain", true, nil)
			return err == nil && len(list) == 1 && is(list[0])
		})
	}
	node := b.nodeID("n1")
	b.Kill("n1")
	b.Fixed(managertest.Fixed, &day.Job{Name: "plain", Fixed: 1, Max: 1, Work: 1}, []string{"/bin/false"}, map[string]string{})
	is("the container is lost", func(a *api.AllocationListStub) bool { return a.DesiredStatus == api.AllocDesiredStatusStop })
	if _, err := b.client.Nodes().ToggleEligibility(node, false, nil); err != nil { // there is no room
		t.Fatal(err)
	}
	b.start("n1")
	is("the container is complete", func(a *api.AllocationListStub) bool {
		return a.ClientStatus == api.AllocClientStatusComplete && a.NextAllocation == ""
	})
	processes.Eventually(b.Bench, "the job is over", 60*time.Second, func() bool { return b.Left() == 0 })
}
