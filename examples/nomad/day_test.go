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
// A container goes on when its client, which was gone for a while, is back. Without MaxClientDisconnect Nomad kills it then, and calls
// it complete where there was no room yet for another in its place: a gang never ends.
func (b *bench) Fixed(policy string, j *day.Job, argv []string, env map[string]string) {
	job := b.job(j.Name, argv, nil)
	env["APPORTION_RANK"], env["APPORTION_SERVER"] = "${NOMAD_ALLOC_INDEX}", "${node.unique.name}"
	group := job.TaskGroups[0]
	if policy == managertest.Preempt {
		b.preempt()
		job.Priority = ptr(priority(j))
	}
	job.Type, group.Count, group.Tasks[0].Env = ptr(api.JobTypeBatch), ptr(int(j.Fixed)), env
	group.MaxClientDisconnect = ptr(time.Hour)
	group.RestartPolicy = &api.RestartPolicy{Attempts: ptr(1000), Interval: ptr(24 * time.Hour), Delay: ptr(time.Second), Mode: ptr("fail")}
	b.register(job)
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

// A plain job of a play goes on when its client was gone, also where nothing had room for another container meanwhile.
func TestFixedOutlivesItsClient(t *testing.T) {
	b := newBench(t, "n1")
	j := &day.Job{Name: "plain", Fixed: 1, Max: 1, Work: 1e6}
	b.Fixed(managertest.Fixed, j, []string{"/bin/sleep", "1000"}, map[string]string{})
	is := func(status string) {
		t.Helper()
		var list []*api.AllocationListStub
		processes.Eventually(b.Bench, "the container is "+status, 60*time.Second, func() (so bool) {
			list, _, _ = b.client.Jobs().Allocations(j.Name, true, nil)
			return len(list) > 0 && list[0].ClientStatus == status
		})
		if len(list) != 1 || list[0].DesiredStatus != api.AllocDesiredStatusRun {
			t.Errorf("%d containers, the first to %s: %s", len(list), list[0].DesiredStatus, list[0].DesiredDescription)
		}
	}
	is(api.AllocClientStatusRunning)
	b.Kill("n1")
	is(api.AllocClientStatusUnknown)
	b.start("n1")
	is(api.AllocClientStatusRunning)
}
