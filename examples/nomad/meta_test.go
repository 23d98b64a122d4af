// This file tests what is read of jobs and nodes, without a cluster.

package nomad

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
)

// declared is an elastic job as a user writes it.
func declared() *api.Job {
	return &api.Job{ID: ptr("lr"), Name: ptr("lr"), Priority: ptr(70), Datacenters: []string{"dc1", "dc2"}, NodePool: ptr("gpus"),
		Meta:        map[string]string{"apportion.max": "8", "apportion.min": "2", "apportion.weight": "1.5", "apportion.save_signal": "SIGUSR1", "team": "vision"},
		Constraints: []*api.Constraint{{LTarget: "${attr.cpu.arch}", Operand: "=", RTarget: "amd64"}, {LTarget: "${meta.zone}", Operand: "is_set"}},
		TaskGroups: []*api.TaskGroup{{Name: ptr("workers"), Count: ptr(0), Volumes: map[string]*api.VolumeRequest{"shared": {Name: "shared", Type: "host", Source: "nfs"}}, Update: &api.UpdateStrategy{}, Migrate: &api.MigrateStrategy{}, Tasks: []*api.Task{{
			Name: "train", Driver: "exec", Config: map[string]any{"command": "python3", "args": []any{"train.py"}}, Env: map[string]string{"LR": "0.1"},
			Resources: &api.Resources{CPU: ptr(2000), MemoryMB: ptr(4000), Devices: []*api.RequestedDevice{{Name: "nvidia/gpu", Count: ptr(uint64(2))}}}}}}}}
}

func TestJobOf(t *testing.T) {
	job := must.Have(jobOf(declared(), false))(t)
	app := job.Application
	if app.ID != "lr" || app.Min != 2 || app.Max != 8 || app.Weight != 1.5 || app.Priority != 70 || !app.Demand.Equal(apportion.Resources{2000, 4000, 2}) {
		t.Errorf("%+v", app)
	}
	here := map[string]string{"node.datacenter": "dc2", "node.pool": "gpus", "attr.cpu.arch": "amd64", "meta.zone": "west", "volume.nfs": "there"}
	for name, change := range map[string]func(map[string]string){
		"":                func(map[string]string) {},
		"another center":  func(l map[string]string) { l["node.datacenter"] = "dc3" },
		"another pool":    func(l map[string]string) { l["node.pool"] = "default" },
		"another machine": func(l map[string]string) { l["attr.cpu.arch"] = "arm64" },
		"no volume":       func(l map[string]string) { delete(l, "volume.nfs") },
		"no zone":         func(l map[string]string) { delete(l, "meta.zone") },
	} {
		labels := map[string]string{}
		for key, text := range here {
			labels[key] = text
		}
		change(labels)
		fits := true
		for i := range app.Requires {
			fits = fits && app.Requires[i].Holds(labels)
		}
		if fits != (name == "") {
			t.Errorf("%s: eligible is %v", name, fits)
		}
	}
}

func TestJobsThatCannotBeRead(t *testing.T) {
	for want, change := range map[string]func(*api.Job){
		"2 groups":           func(j *api.Job) { j.TaskGroups = append(j.TaskGroups, j.TaskGroups[0]) },
		"count = 3":          func(j *api.Job) { j.TaskGroups[0].Count = ptr(3) },
		`driver is "docker"`: func(j *api.Job) { j.TaskGroups[0].Tasks[0].Driver = "docker" },
		`type is "system"`:   func(j *api.Job) { j.Type = ptr("system") },
		`device "intel/fpga"`: func(j *api.Job) {
			r := j.TaskGroups[0].Tasks[0].Resources
			r.Devices = append(r.Devices, &api.RequestedDevice{Name: "intel/fpga"})
		},
		`volume "data"`: func(j *api.Job) {
			j.TaskGroups[0].Volumes = map[string]*api.VolumeRequest{"data": {Name: "data", Type: "csi"}}
		},
		"unknown user":           func(j *api.Job) { j.TaskGroups[0].Tasks[0].User = "nobody-of-this-name" },
		"as root":                func(j *api.Job) { j.TaskGroups[0].Tasks[0].User = "root" },
		"apportion.max":          func(j *api.Job) { j.Meta["apportion.max"] = "many" },
		"apportion.weight":       func(j *api.Job) { j.Meta["apportion.weight"] = "heavy" },
		"apportion.adjust_cost":  func(j *api.Job) { j.Meta["apportion.adjust_cost"] = "-" },
		"apportion.preemptible":  func(j *api.Job) { j.Meta["apportion.preemptible"] = "perhaps" },
		"apportion.save_signal":  func(j *api.Job) { j.Meta["apportion.save_signal"] = "KILL" },
		"this key is not known":  func(j *api.Job) { j.Meta["apportion.maximum"] = "3" },
		`the operator "version"`: func(j *api.Job) { j.Constraints[0].Operand = "version" },
		"a variable of the node": func(j *api.Job) { j.TaskGroups[0].Constraints = []*api.Constraint{{LTarget: "amd64"}} },
	} {
		j := declared()
		change(j)
		if _, err := jobOf(j, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Everything that a user can write and the containers would not have is refused by its path, and what Nomad fills in is not.
func TestUncarried(t *testing.T) {
	for want, change := range map[string]func(*api.Job, *api.TaskGroup, *api.Task){
		"job.all_at_once": func(j *api.Job, _ *api.TaskGroup, _ *api.Task) { j.AllAtOnce = ptr(true) },
		"job.affinity": func(j *api.Job, _ *api.TaskGroup, _ *api.Task) {
			j.Affinities = []*api.Affinity{{LTarget: "${node.class}"}}
		},
		"job.periodic":      func(j *api.Job, _ *api.TaskGroup, _ *api.Task) { j.Periodic = &api.PeriodicConfig{Spec: ptr("@daily")} },
		"job.parameterized": func(j *api.Job, _ *api.TaskGroup, _ *api.Task) { j.ParameterizedJob = &api.ParameterizedJobConfig{} },
		"job.multiregion":   func(j *api.Job, _ *api.TaskGroup, _ *api.Task) { j.Multiregion = &api.Multiregion{} },
		"job.Payload":       func(j *api.Job, _ *api.TaskGroup, _ *api.Task) { j.Payload = []byte("x") },
		"group.restart.attempts": func(_ *api.Job, g *api.TaskGroup, _ *api.Task) {
			g.RestartPolicy = &api.RestartPolicy{Attempts: ptr(7)}
		},
		"group.reschedule.unlimited": func(j *api.Job, _ *api.TaskGroup, _ *api.Task) {
			j.Reschedule = &api.ReschedulePolicy{Unlimited: ptr(false)}
		},
		"group.update.max_parallel":  func(j *api.Job, _ *api.TaskGroup, _ *api.Task) { j.Update = &api.UpdateStrategy{MaxParallel: ptr(3)} },
		"group.migrate.max_parallel": func(_ *api.Job, g *api.TaskGroup, _ *api.Task) { g.Migrate = &api.MigrateStrategy{MaxParallel: ptr(3)} },
		"group.network":              func(_ *api.Job, g *api.TaskGroup, _ *api.Task) { g.Networks = []*api.NetworkResource{{Mode: "host"}} },
		"group.service":              func(_ *api.Job, g *api.TaskGroup, _ *api.Task) { g.Services = []*api.Service{{Name: "lr"}} },
		"group.scaling":              func(_ *api.Job, g *api.TaskGroup, _ *api.Task) { g.Scaling = &api.ScalingPolicy{Max: ptr(int64(4))} },
		"group.ephemeral_disk.sticky": func(_ *api.Job, g *api.TaskGroup, _ *api.Task) {
			g.EphemeralDisk = &api.EphemeralDisk{Sticky: ptr(true)}
		},
		"group.shutdown_delay": func(_ *api.Job, g *api.TaskGroup, _ *api.Task) { g.ShutdownDelay = ptr(time.Second) },
		"task.restart.attempts": func(_ *api.Job, _ *api.TaskGroup, t *api.Task) {
			t.RestartPolicy = &api.RestartPolicy{Attempts: ptr(7)}
		},
		"task.template.data": func(_ *api.Job, _ *api.TaskGroup, t *api.Task) {
			t.Templates = []*api.Template{{EmbeddedTmpl: ptr("x")}}
		},
		"task.lifecycle":   func(_ *api.Job, _ *api.TaskGroup, t *api.Task) { t.Lifecycle = &api.TaskLifecycle{Hook: "prestart"} },
		"task.leader":      func(_ *api.Job, _ *api.TaskGroup, t *api.Task) { t.Leader = true },
		"task.kill_signal": func(_ *api.Job, _ *api.TaskGroup, t *api.Task) { t.KillSignal = "SIGINT" },
		"task.vault":       func(_ *api.Job, _ *api.TaskGroup, t *api.Task) { t.Vault = &api.Vault{} },
		"task.dispatch_payload": func(_ *api.Job, _ *api.TaskGroup, t *api.Task) {
			t.DispatchPayload = &api.DispatchPayloadConfig{File: "x"}
		},
		"task.resources.cores": func(_ *api.Job, _ *api.TaskGroup, t *api.Task) { t.Resources.Cores = ptr(2) },
		"task.resources.device.constraint": func(_ *api.Job, _ *api.TaskGroup, t *api.Task) {
			t.Resources.Devices[0].Constraints = []*api.Constraint{{LTarget: "x"}}
		},
	} {
		j := declared()
		change(j, j.TaskGroups[0], j.TaskGroups[0].Tasks[0])
		if _, err := jobOf(j, false); err == nil || !strings.Contains(err.Error(), "it says "+want) {
			t.Errorf("%s: %v", want, err)
		}
		if _, err := jobOf(j, true); err != nil {
			t.Errorf("%s of a job that runs by itself: %v", want, err)
		}
	}
	j := declared()
	j.Canonicalize()
	j.TaskGroups[0].Tasks[0].Identity = &api.WorkloadIdentity{Name: "default"}
	if _, err := jobOf(j, false); err != nil {
		t.Errorf("a job as Nomad has it: %v", err)
	}
}

// The child of a job has a group for each node of a run, with a guard around every container.
func TestChildJob(t *testing.T) {
	n := newNomad(nil, 4, daemon.Guarded{Program: "/bin/guard", URL: "http://c/lease", Every: time.Second})
	task := &managed.Task{Epoch: 4, Credential: "/shared/token", Run: runner.Run{Job: "lr", Attempt: 3, Containers: []string{"n1", "n1", "n2"}, Dir: "/shared/runs/lr/3"}}
	asRegistered := declared()
	asRegistered.Canonicalize()
	j := must.Have(n.childJob(asRegistered, task))(t)
	if *j.ID != "lr/run" || *j.Type != "batch" || len(j.TaskGroups) != 2 {
		t.Fatalf("%+v", j)
	}
	for i, want := range []struct {
		name, node, rank string
		count            int
	}{{"a3-n1", "n1", "0+${NOMAD_ALLOC_INDEX}", 2}, {"a3-n2", "n2", "2+${NOMAD_ALLOC_INDEX}", 1}} {
		g := j.TaskGroups[i]
		if *g.Name != want.name || *g.Count != want.count || attemptOf(*g.Name) != 3 || g.Constraints[0].RTarget != want.node ||
			*g.RestartPolicy.Attempts != 0 || *g.Tasks[0].RestartPolicy.Attempts != 0 || !reflect.DeepEqual(g.Meta, map[string]string{"team": "vision"}) || *g.ReschedulePolicy.Attempts != 0 || g.Update != nil || g.Migrate != nil {
			t.Errorf("%+v", g)
		}
		task := g.Tasks[0]
		args := []any{"-url", "http://c/lease", "-token-file", "/shared/token", "-every", "1s", "-save", "USR1", "-rank", want.rank,
			"--", "python3", "train.py"}
		if task.Config["command"] != "/bin/guard" || !reflect.DeepEqual(task.Config["args"], args) {
			t.Errorf("%v\n%v", task.Config, args)
		}
		for key, value := range map[string]string{"LR": "0.1", "APPORTION_JOB": "lr", "APPORTION_ATTEMPT": "3", "APPORTION_EPOCH": "4", "APPORTION_SERVER": want.node, "APPORTION_CONTAINERS": "3"} {
			if task.Env[key] != value {
				t.Errorf("%s = %q, want %q", key, task.Env[key], value)
			}
		}
	}
	n.priority = 1
	if lower, err := n.childJob(asRegistered, task); err != nil || *lower.Priority != 1 || *j.Priority != 70 {
		t.Errorf("priorities %d and %d, %v", *lower.Priority, *j.Priority, err)
	}
	// What the user has declared is as it was.
	if d := declared(); len(d.TaskGroups[0].Constraints) != 0 || d.TaskGroups[0].Tasks[0].Config["command"] != "python3" {
		t.Errorf("%+v", d)
	}
	broken := declared()
	broken.TaskGroups[0].Tasks[0].Config = map[string]any{"jar": "x"}
	if _, err := n.childJob(broken, task); err == nil {
		t.Error("a task without a command")
	}
}

func TestUsedByOthers(t *testing.T) {
	tasks := &api.AllocatedResources{Tasks: map[string]*api.AllocatedTaskResources{"web": {Cpu: api.AllocatedCpuResources{CpuShares: 300},
		Memory: api.AllocatedMemoryResources{MemoryMB: 200}, Devices: []*api.AllocatedDeviceResource{{Type: "gpu", DeviceIDs: []string{"0", "1"}}}}}}
	list := []*api.AllocationListStub{
		{NodeID: "1", JobID: "web", ClientStatus: "running", AllocatedResources: tasks},
		{NodeID: "1", JobID: "api", ClientStatus: "pending", AllocatedResources: tasks},
		{NodeID: "1", JobID: "old", ClientStatus: "complete", AllocatedResources: tasks},
		{NodeID: "1", JobID: "lr/run", ClientStatus: "running", AllocatedResources: tasks},
		{NodeID: "2", JobID: "new", ClientStatus: "running"},
	}
	n := newNomad(nil, 1, daemon.Guarded{})
	n.own = map[string]bool{"lr/run": true}
	if used := usedByOthers(list, n.isOwn); len(used) != 1 || !used["1"].Equal(apportion.Resources{600, 400, 4}) {
		t.Errorf("%v", used)
	}
	// For an autoscaler the containers of the elastic jobs themselves count, and a child is what it is: somebody else's.
	n.advised, n.jobs = true, map[string]read{"web": {}, "api": {fault: errAgain}}
	if used := usedByOthers(list, n.isOwn); len(used) != 1 || !used["1"].Equal(apportion.Resources{600, 400, 4}) || !n.isOwn("web") || n.isOwn("api") {
		t.Errorf("%v", used)
	}
}

// A job whose number an autoscaler changes may have any count and any driver.
func TestAdvisedJob(t *testing.T) {
	j := declared()
	j.TaskGroups[0].Count, j.TaskGroups[0].Tasks[0].Driver = ptr(3), "docker"
	if job, err := jobOf(j, true); err != nil || job.Application.Max != 8 {
		t.Errorf("%+v, %v", job, err)
	}
	j.Meta["apportion.max"] = "many"
	if _, err := jobOf(j, true); err == nil {
		t.Error("a number that is none")
	}
}

// Nomad takes priorities to 100; 0 is that of the job.
func TestPriority(t *testing.T) {
	defer func(was int) { standing = was }(standing)
	for priority, ok := range map[int]bool{-1: false, 0: true, 1: true, 100: true, 101: false} {
		standing = priority
		if _, err := program.Connect(1, t.TempDir(), daemon.Guarded{}); (err == nil) != ok {
			t.Errorf("-priority %d: %v", priority, err)
		}
	}
}
