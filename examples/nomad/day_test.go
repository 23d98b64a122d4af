// This file plays a day of a real trace on a real Nomad cluster: by Nomad alone, and with the controller beside it.

package main

import (
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/examples/internal/beside/besidetest"
	"github.com/apportion/apportion/examples/internal/beside/day"
)

// Beside implements besidetest.Player.
func (b *bench) Beside() *besidetest.Bench { return b.Bench }

// Elastic implements besidetest.Player.
func (b *bench) Elastic(j *day.Job, argv []string) string {
	b.register(b.job(j.Name, argv, map[string]string{metaPrefix + "max": strconv.FormatInt(j.Max, 10)}))
	return j.Name
}

// Fixed implements besidetest.Player: a batch job with a count. Nomad starts the containers that have room, whatever
// becomes of the others; those give up after a while, and are started again.
func (b *bench) Fixed(_ string, j *day.Job, argv []string, env map[string]string) {
	job := b.job(j.Name, argv, nil)
	env["APPORTION_RANK"], env["APPORTION_SERVER"] = "${NOMAD_ALLOC_INDEX}", "${node.unique.name}"
	group := job.TaskGroups[0]
	job.Type, group.Count, group.Tasks[0].Env = ptr(api.JobTypeBatch), ptr(int(j.Fixed)), env
	group.RestartPolicy = &api.RestartPolicy{Attempts: ptr(1000), Interval: ptr(24 * time.Hour), Delay: ptr(time.Second), Mode: ptr("fail")}
	b.register(job)
}

// Left implements besidetest.Player.
func (b *bench) Left() int {
	stubs, _, err := b.client.Jobs().ListOptions(&api.JobListOptions{Fields: &api.JobListFields{Meta: true}}, nil)
	if err != nil {
		b.retried(err)
		return -1
	}
	left := 0
	for _, stub := range stubs {
		if !isChild(stub.ID) && !stub.Stop && (isElastic(stub.Meta) || stub.Status != "dead") {
			left++
		}
	}
	return left
}

func TestDay(t *testing.T) {
	besidetest.Daily{Manager: "nomad", Slots: 24, Bench: func(t *testing.T) besidetest.Player {
		return newBench(t, nodes...)
	}}.Day(t)
}
