// This file plays jobs of two ordinary users, and jobs that come to nothing, on a real Nomad cluster.

package nomad

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// users are two that every system has, neither of which is root.
var users = []string{"daemon", "nobody"}

// Jobs of two users run as these, outlive resizes, and are secret to each other.
func TestUsers(t *testing.T) {
	b := newBench(t, "n1", "n2")
	// Programs and the folders of tasks lie below these, which are root's own until now.
	for _, name := range []string{".", "n1", "n2"} {
		must.Do(t, os.Chmod(filepath.Join(b.cluster.Dir, name), 0o711))
	}
	b.as(users[0], "a", 16)
	b.Holds(map[string]int{"a": 16})
	for _, most := range []int{8, 4, 8} {
		b.as(users[1], "b", most)
		b.Holds(map[string]int{"a": 16 - most, "b": most})
	}
	var ids []*syscall.Credential
	for i, job := range []string{"a", "b"} {
		known := must.Have(managed.LookupUser(users[i]))(t)
		ids = append(ids, &syscall.Credential{Uid: known.UID, Gid: known.GID})
		for uid, n := range b.uids(job) {
			if uid != known.UID {
				t.Errorf("%d processes of job %s are of user %d, want %d", n, job, uid, known.UID)
			}
		}
	}
	b.Hidden("a", ids[0], ids[1])
	b.Hidden("b", ids[1], ids[0])
	for _, j := range b.Report().Jobs {
		if j.Job.Newest().Step == 0 || j.Job.Deaths > 0 {
			t.Errorf("job %s has saved step %d and died %d times", j.Job.Name, j.Job.Newest().Step, j.Job.Deaths)
		}
	}
	b.Check()
}

// A job of the driver exec, which sees the shared folder as a volume of its node and little else, runs as nobody and outlives
// resizes.
func TestExec(t *testing.T) {
	t.Setenv("CGO_ENABLED", "0") // there are no libraries where the programs run
	c := prepare(t, "n1")
	text := must.Have(os.ReadFile(filepath.Join(c.Dir, "n1.hcl")))(t)
	more := "client {\n  chroot_env {\n"
	for _, name := range []string{"/etc/passwd", filepath.Join(c.Dir, "apportion-guard"), filepath.Join(c.Dir, "inhouse")} {
		more += fmt.Sprintf("    %q = %q\n", name, name)
	}
	more += fmt.Sprintf("  }\n  host_volume \"shared\" {\n    path = %q\n  }\n", filepath.Join(c.Dir, "shared"))
	c.Write("n1.hcl", strings.NewReplacer("client {\n", more, `= "raw_exec"`, `= "raw_exec,exec"`).Replace(string(text)), 0o600)
	c.Write("shared/locks/empty", "", 0o600)
	// The folders above the programs are as these in what is seen.
	must.Do(t, errors.Join(os.Chmod(c.Dir, 0o711), os.Chmod(filepath.Join(c.Dir, "shared", "locks"), 0o777)))
	c.up("", &api.Config{Address: c.address("http")})
	c.ready(1)
	list, _, err := c.client.Nodes().List(nil)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d nodes, %v", len(list), err)
	}
	if driver := list[0].Drivers["exec"]; driver == nil || !driver.Healthy {
		t.Skipf("Nomad's client does not run exec here: %+v", driver)
	}
	b := &bench{c, managertest.New(t, c.Dir, "NOMAD_ADDR="+c.address("http"))}
	for _, most := range []int{8, 4, 8} {
		j := b.job("a", []string{b.Trainer, "train", "-steps", "100000", "-cost", "1ms", "-locks", filepath.Join(b.Shared, "locks")},
			map[string]string{metaPrefix + "max": strconv.Itoa(most)})
		group := j.TaskGroups[0]
		group.Volumes = map[string]*api.VolumeRequest{"shared": {Name: "shared", Type: hostVolume, Source: "shared"}}
		group.Tasks[0].Driver, group.Tasks[0].VolumeMounts = "exec", []*api.VolumeMount{{Volume: ptr("shared"), Destination: ptr(b.Shared)}}
		b.register(j)
		b.Holds(map[string]int{"a": most})
	}
	if nobody, err := managed.LookupUser("nobody"); err != nil || b.uids("a")[nobody.UID] == 0 || len(b.uids("a")) != 1 {
		t.Errorf("%v, %v", b.uids("a"), err)
	}
	if j := b.Report().Jobs[0].Job; j.Newest().Step == 0 || j.Deaths > 0 {
		t.Errorf("it has saved step %d and died %d times", j.Newest().Step, j.Deaths)
	}
	b.Check()
}

// uids are the users of the trainers of a job, with how many processes each has.
func (b *bench) uids(job string) map[uint32]int {
	found := map[uint32]int{}
	for _, pid := range processes.Of(b.cluster.Dir, "inhouse") {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
		if err == nil && strings.Contains(string(env), "APPORTION_JOB="+job+"\x00") {
			found[info.Sys().(*syscall.Stat_t).Uid]++
		}
	}
	if len(found) == 0 {
		b.Bench.Errorf("job %s has no processes", job)
	}
	return found
}

// A job whose work is done and one that comes to nothing end in Nomad's own terms, and a guard that was killed is not started again
// by Nomad.
func TestEnds(t *testing.T) {
	b := newBench(t, "n1")
	b.Set("-max-deaths", "2")
	b.submit("good", 2, 40, nil)
	b.ends("good", "completed", api.TaskGroupSummary{Complete: 2})
	b.register(b.job("bad", []string{"/bin/false"}, map[string]string{metaPrefix + "max": "1"}))
	b.ends("bad", "failed: 2 runs have died without a step further", api.TaskGroupSummary{Failed: 2})
	// Another one of that name is a job like any other, when this one is forgotten.
	processes.Eventually(b.Bench, "bad is forgotten", 60*time.Second, func() bool {
		r := b.Report()
		return r != nil && !slices.ContainsFunc(r.Jobs, func(j controller.JobReport) bool { return j.Job.Name == "bad" })
	})
	b.submit("bad", 2, 100000, nil)
	b.Holds(map[string]int{"bad": 2})
	for _, pid := range processes.Of(b.cluster.Dir, "apportion-guard") {
		_ = syscall.Kill(pid, syscall.SIGKILL) // keepers, which have that name as well, end by themselves
	}
	processes.Eventually(b.Bench, "another attempt runs", 90*time.Second, func() bool {
		for _, j := range b.Report().Jobs {
			if j.Job.Name == "bad" && j.Job.Attempt > 1 && j.Job.Phase == "running" {
				return true
			}
		}
		return false
	})
	list, _, err := b.client.Jobs().Allocations("bad/run", true, nil)
	if err != nil || len(list) < 4 {
		t.Fatalf("%d allocations, %v", len(list), err)
	}
	for _, a := range list {
		if state := a.TaskStates["train"]; state != nil && state.Restarts > 0 {
			t.Errorf("Nomad has started a container of %s again, %d times", a.TaskGroup, state.Restarts)
		}
	}
	b.Check()
}

// ends waits until a job is stopped, and its child dead with that word on it and so many containers that came to this.
func (b *bench) ends(id, ended string, want api.TaskGroupSummary) {
	b.Bench.Helper()
	got := ""
	defer func() {
		if b.Bench.Failed() {
			b.Bench.Logf("it stands like this: %s", got)
		}
	}()
	processes.Eventually(b.Bench, id+" ends by Nomad's own word", 90*time.Second, func() bool {
		b.Report()
		j, _, err := b.client.Jobs().Info(id, nil)
		if err != nil {
			return false
		}
		child, _, err := b.client.Jobs().Info(childOf(id), nil)
		if err != nil {
			return false
		}
		summary, _, err := b.client.Jobs().Summary(childOf(id), nil)
		if err != nil {
			return false
		}
		var sum api.TaskGroupSummary
		for _, group := range summary.Summary {
			sum.Complete += group.Complete
			sum.Failed += group.Failed
		}
		got = fmt.Sprintf("%+v, %s, stop %v, %v", sum, *child.Status, *child.Stop, child.Meta)
		return *j.Stop && *child.Status == "dead" && !*child.Stop && strings.HasPrefix(child.Meta[metaEnded], ended) && sum == want
	})
}
