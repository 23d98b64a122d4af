// This file tests what is read of Slurm's records and what follows from it, without a cluster.

package slurm

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	trainer "github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
)

// shown is a job as Slurm prints it, and jobOf what is read of that.
func shown(t *testing.T, f fields) json.RawMessage {
	t.Helper()
	text := must.Have(json.Marshal(f))(t)
	return text
}

func jobOf(t *testing.T, f fields) *job {
	t.Helper()
	var j job
	must.Do(t, json.Unmarshal(shown(t, f), &j))
	return &j
}

func TestGPUs(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "gres:gpu": 1, "gres:gpu:4": 4} {
		if got, err := gpusOf(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"gres:gpu:a100:1", "gres:shard:4", "gres:gpu:1,gres:nic:1", "gres:gpu:99999999999", "gpu:-1"} {
		if got, err := gpusOf(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
	for text, want := range map[string]int64{"": 0, "gpu:4": 4, "gpu:a100:2(IDX:0-1),gpu:t4:1(IDX:2)": 3, "gpu:4(S:0-1),nic:2": 4, "shard:gpu:4": 0, "N/A": 0} {
		if got := gpusIn(text); got != want {
			t.Errorf("%q: %d GPUs, want %d", text, got, want)
		}
	}
}

// A job is started as the user and the group that Slurm's numbers say, and where they say nothing, not at all.
func TestOwner(t *testing.T) {
	own := os.Geteuid()
	for _, test := range []struct {
		uid, gid any
		want     *trainer.User
		refused  bool
	}{
		{uint32(own), 100, nil, false},
		{1000, 100, &trainer.User{UID: 1000, GID: 100}, false},
		{1000, 0, nil, true}, {nil, 100, nil, true}, {1000, nil, nil, true}, {uint32(math.MaxUint32), 100, nil, true}, {1000, uint32(math.MaxUint32), nil, true},
	} {
		got, err := jobOf(t, held(fields{"user_id": test.uid, "group_id": test.gid})).owner()
		refused := test.refused || own != 0 && test.want != nil
		if (err != nil) != refused || !refused && (got == nil) != (test.want == nil) || !refused && got != nil && (got.UID != test.want.UID || got.GID != test.want.GID) {
			t.Errorf("%v:%v: %+v, %v", test.uid, test.gid, got, err)
		}
	}
	// A record of a version that read other output says nothing of it.
	s := newSlurm(4, t.TempDir(), daemon.Guarded{})
	if u, err := s.User(json.RawMessage(`{"record": {"UserId": "root(0)", "GroupId": "root(0)"}, "script": "#!/bin/sh\n"}`)); err == nil {
		t.Errorf("an old record is of %+v", u)
	}
}

func TestApplicationOf(t *testing.T) {
	j := jobOf(t, held(fields{"features": "fast&big"}))
	words, _ := j.words()
	app, err := applicationOf(j, words)
	if err != nil || app.ID != "lr.12" || app.Min != 2 || app.Max != 8 || app.Weight != 1.5 || !app.Demand.Equal(apportion.Resources{2, 1000, 1}) {
		t.Fatalf("%+v, %v", app, err)
	}
	n := node{"n1", "mixed", nil, "fast,big", []string{"p", "all"}, new(int64), new(int64), new(int64), new(int64), "gpu:4", "gpu:2"}
	*n.CPUs, *n.Memory, *n.UsedCPUs, *n.UsedMemory = 8, 16000, 3, 2500
	server, err := serverOf(&n, apportion.Resources{2, 1000, 1})
	if err != nil || server.ID != "n1" || server.Down != "" || server.Draining || !server.Capacity.Equal(apportion.Resources{7, 14500, 3}) {
		t.Errorf("%+v, %v", server, err)
	}
	if !server.Satisfies(app.Requires) {
		t.Errorf("%v does not satisfy %v", server.Labels, app.Requires)
	}
	for _, label := range []string{"partition:p", "feature:fast", "feature:big"} {
		delete(server.Labels, label)
		if server.Satisfies(app.Requires) {
			t.Errorf("a node without %s", label)
		}
		server.Labels[label] = "yes"
	}
	for state, down := range map[string]bool{"idle": false, "mixed DRAIN": false, "down": true, "idle NOT_RESPONDING": true, "down DRAIN": true,
		"idle CLOUD POWERED_DOWN": false, "mixed CLOUD NOT_RESPONDING POWERING_UP": false, "idle CLOUD POWERING_DOWN": true, "mixed CLOUD POWER_DOWN": false,
		"down CLOUD POWERED_DOWN": true, "idle CLOUD NOT_RESPONDING": true, "idle CLOUD DRAIN POWERED_DOWN": false, "idle FAIL": true, "idle INVALID_REG": true, "unknown": true} {
		n.State, n.Flags = strings.Fields(state)[0], strings.Fields(state)[1:]
		if s, err := serverOf(&n, nil); err != nil || (s.Down != "") != down || s.Draining != (strings.Contains(state, "DRAIN") || strings.Contains(state, "POWER_DOWN")) {
			t.Errorf("%s: %+v, %v", state, s, err)
		}
	}
}

// Parts may not be put above others' jobs.
func TestNice(t *testing.T) {
	defer func(was settings) { given = was }(given)
	for nice, ok := range map[int]bool{-1: false, 0: true, lowered: true} {
		given.standing.nice = nice
		if _, err := program.Connect(1, t.TempDir(), daemon.Guarded{}); (err == nil) != ok {
			t.Errorf("-nice %d: %v", nice, err)
		}
	}
}

// What a job asks for and its runs would not have refuses it, and so does a field that nobody knows.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		changes fields
		want    string
	}{
		{fields{"comment": "apportion max=many"}, "max = \"many\""}, {fields{"comment": "apportion weight=-"}, "weight = \"-\""},
		{fields{"comment": "apportion save_signal=KILL"}, "save_signal"}, {fields{"comment": "apportion maximum=3"}, "not known"},
		{fields{"command": "/home/anna/job.sh --lr 0.1"}, "apportion-slurm submit"}, {fields{"requeue": false}, "requeue"},
		{fields{"tasks": 2}, "2 tasks"}, {fields{"node_count": 2}, "2 nodes"}, {fields{"user_id": nil}, "whose"}, {fields{"group_id": nil}, "whose"},
		{fields{"features": "a|b"}, "its features"}, {fields{"partition": "a,b"}, "its partition"},
		{fields{"memory_per_cpu": nil}, "--mem-per-cpu"}, {fields{"memory_per_cpu": 1 << 50}, "--mem-per-cpu"}, {fields{"minimum_cpus_per_node": 1 << 40}, "CPUs"},
		{fields{"tres_per_node": "gres:gpu:a100:1"}, "gpu:N"}, {fields{"tres_per_task": "gres:shard:1"}, "gpu:N"},
		{fields{"standard_output": "out.%t"}, "standard_output"}, {fields{"current_working_directory": "/a%b"}, "standard_output"},
		// Each of these is what Slurm 22.05 shows of an option of sbatch.
		{fields{"required_nodes": "n[1-2]"}, "required_nodes"}, {fields{"excluded_nodes": "n1"}, "excluded_nodes"}, {fields{"dependency": "afterok:3"}, "dependency"},
		{fields{"shared": "none"}, "shared"}, {fields{"tres_per_job": "gres:gpu:2"}, "tres_per_job"}, {fields{"tasks_per_node": 2}, "tasks_per_node"},
		{fields{"array_job_id": 12, "array_task_string": "1-3"}, "array_job_id"}, {fields{"standard_error": "/tmp/e"}, "standard_error"},
		{fields{"standard_input": "/tmp/i"}, "standard_input"}, {fields{"nice": 10}, "nice"}, {fields{"deadline": 1795792923}, "deadline"},
		{fields{"contiguous": true}, "contiguous"}, {fields{"minimum_tmp_disk_per_node": 10}, "minimum_tmp_disk_per_node"}, {fields{"max_nodes": 2}, "max_nodes"},
		{fields{"threads_per_core": 1}, "threads_per_core"}, {fields{"time_minimum": 1}, "time_minimum"}, {fields{"profile": []string{"Task"}}, "profile"},
		{fields{"container": "/x"}, "container"}, {fields{"reboot": true}, "reboot"}, {fields{"cpus_per_tres": "gres:gpu:2"}, "cpus_per_tres"},
		{fields{"flags": []string{"JOB_CPUS_SET", "SPREAD_JOB"}}, "SPREAD_JOB"}, {fields{"flags": nil, "licenses": "a"}, "licenses"}, {fields{"flags": 3}, "flags"},
		{fields{"of_a_later_version": "x"}, "of_a_later_version"},
	} {
		f := held(test.changes)
		j := jobOf(t, f)
		words, _ := j.words()
		_, err := applicationOf(j, words)
		if err == nil {
			err = unknown(shown(t, f))
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v", test.changes, err)
		}
	}
}

func TestParts(t *testing.T) {
	owners := map[string]int64{"12": 1000}
	for _, id := range []string{"lr.12", "team/lr.12", "a1/n2.12", "a\nb.12"} {
		var one run
		if !one.read(nameOf(id, 3, "n1"), 1000, owners) || one.job != id || one.attempt != 3 || one.node != "n1" {
			t.Errorf("%+v", one)
		}
		if one.read(nameOf(id, 3, "n1"), 1001, owners) {
			t.Errorf("a part of %s by somebody else", id)
		}
	}
	for _, name := range []string{"lr", "apportion", "apportion/lr", "other/lr/a3/n1", "apportion/lr.13/a99999999999999999999/n1"} {
		var one run
		if one.read(name, 1000, owners) {
			t.Errorf("%q is %+v", name, one)
		}
	}
}

// A part is in trouble when it has ended, when Slurm has none, and when it waits for a node that is drained, or on which others have
// left too little at two looks in a row.
func TestTroubleOf(t *testing.T) {
	s := newSlurm(4, "", daemon.Guarded{})
	runs := []run{{id: "7", job: "lr.12", node: "n1", state: "RUNNING", attempt: 3}, {id: "8", job: "lr.12", node: "n2", state: "FAILED", reason: "NonZeroExitCode", attempt: 3},
		{id: "5", job: "lr.12", node: "n3", state: "FAILED", attempt: 2}, {id: "9", job: "lr.12", node: "n4", state: "PENDING", reason: "Resources", attempt: 3}}
	for _, c := range []struct {
		node   string
		closed bool
		want   string
	}{
		{"n1", false, ""}, {"n1", true, ""},
		{"n2", false, "Slurm's job 8 is FAILED: NonZeroExitCode"},
		{"n3", false, "Slurm has no job for it"},
		{"n4", false, ""}, {"n4", true, "Slurm's job 9 waits for a node that is drained: Resources"},
	} {
		s.closed = map[string]bool{c.node: c.closed}
		if got, refused := s.troubleOf(runs, "lr.12", 3, c.node); got != c.want || refused {
			t.Errorf("%s, closed is %v: %q, want %q", c.node, c.closed, got, c.want)
		}
	}
	runs[3].tasks, s.closed, s.demands["lr.12"] = 3, nil, apportion.Resources{2, 0, 0}
	for i, cpus := range []int64{5, 6, 5, 5} {
		s.seeServers([]controller.Server{{Server: apportion.Server{ID: "n4", Capacity: apportion.Resources{cpus, 0, 0}}}})
		if got, refused := s.troubleOf(runs, "lr.12", 3, "n4"); strings.Contains(got, "others have taken") != (i == 3) || refused != (i == 3) {
			t.Errorf("look %d: %q", i, got)
		}
	}
}

// What is submitted for a part: exactly its tasks on its node, each with a guard, as the user of the job.
func TestScript(t *testing.T) {
	declared := &spec{Job: *jobOf(t, held(fields{"features": "fast&big", "account": "vision", "time_limit": 90})), Script: "#!/bin/sh\n"}
	task := &managed.Task{Epoch: 4, User: &trainer.User{UID: 1000, GID: 100}, Run: runner.Run{Job: "it's.12", Attempt: 3, Containers: []string{"n1", "n2", "n2"}, Dir: "/shared/runs/team%2Flr/3"}}
	s := newSlurm(4, t.TempDir(), daemon.Guarded{Program: "/bin/guard", URL: "http://c/lease", Every: time.Second})
	part := task.Servers()[1]
	args := must.Have(s.arguments(declared, task, part))(t)
	for _, want := range []string{"--nodelist=n2", "--ntasks=2", "--cpus-per-task=2", "--mem=2000", "--gres=gpu:2", "--partition=p", "--account=vision", "--time=90",
		"--constraint=fast&big", "--no-requeue", "--job-name=apportion/it's.12/a3/n2", "--chdir=/home/anna", "--uid=1000", "--gid=100", "--output=/shared/runs/team%%2Flr/3/n2.out"} {
		if !slices.Contains(args, want) {
			t.Errorf("no %s: %q", want, args)
		}
	}
	if first, err := s.arguments(declared, task, task.Servers()[0]); err != nil || !slices.Contains(first, "--output=/home/anna/slurm-12.out") {
		t.Errorf("%q, %v", first, err)
	}
	s.standing.partition, s.standing.qos, s.standing.nice = "low", "scavenger", 5
	if lower, err := s.arguments(declared, task, part); err != nil || !slices.Contains(lower, "--partition=low") || !slices.Contains(lower, "--qos=scavenger") || !slices.Contains(lower, "--nice=5") ||
		slices.Contains(lower, "--partition=p") {
		t.Errorf("%q, %v", lower, err)
	}
	text := s.script(declared, task, part)
	for _, want := range []string{`export APPORTION_JOB='it'\''s.12'`, "export APPORTION_SERVER='n2'", "export APPORTION_EPOCH='4'", `-save'\'' '\'''\'' -rank 1+$SLURM_PROCID`, "exec srun"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s:\n%s", want, text)
		}
	}
}

// A job that is over stays over, should Slurm show it again; a later one of its name and number is another.
func TestBury(t *testing.T) {
	s := newSlurm(4, t.TempDir(), daemon.Guarded{})
	over := func(job, submitted string, want checkpoint.Ending) {
		t.Helper()
		at := must.Have(time.ParseInLocation(slurmTime, submitted, time.Local))(t)
		if got, err := s.buried(job, at.Unix()); err != nil || got != want {
			t.Errorf("%s of %s: %q, %v", job, submitted, got, err)
		}
	}
	over("lr.12", "2026-11-22T20:00:00", "")
	must.Do(t, s.bury("lr.12", checkpoint.Completed, time.Date(2026, 11, 22, 20, 10, 0, 0, time.Local)))
	over("lr.12", "2026-11-22T20:00:00", checkpoint.Completed)
	over("lr.12", "2026-11-22T20:10:00", checkpoint.Completed)
	over("lr.12", "2026-11-22T20:10:01", "")
	over("lr.13", "2026-11-22T20:00:00", "")
	// What is forgotten is buried as well, and the note of it stays.
	must.Do(t, s.Forget(t.Context(), "lr.13"))
	over("lr.13", "2026-11-22T20:00:00", checkpoint.Cancelled)
	// A note from before they said how.
	must.Do(t, os.WriteFile(filepath.Join(s.folder, graves, "lr.14"), []byte("2026-11-22T20:10:00"), 0o600))
	over("lr.14", "2026-11-22T20:00:00", checkpoint.Cancelled)
}

// startable is the task of a job of this program's user, and a Slurm whose sbatch is this script.
func startable(t *testing.T, sbatch string, servers ...string) (*slurm, managed.Task) {
	t.Helper()
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for name, text := range map[string]string{"sbatch": sbatch, "squeue": ""} { // this Slurm says that it has nothing
		must.Do(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	}
	text := must.Have(json.Marshal(spec{Job: *jobOf(t, held(fields{"user_id": os.Geteuid()})), Script: "#!/bin/sh\n"}))(t)
	return newSlurm(4, t.TempDir(), daemon.Guarded{Program: "/bin/guard"}),
		managed.Task{Spec: text, Run: runner.Run{Job: "lr.12", Attempt: 3, Containers: servers, Dir: t.TempDir()}}
}

// A start submits every part and believes no list from before. What was asked for before is not submitted again.
func TestStart(t *testing.T) {
	dir := t.TempDir()
	count, exit := filepath.Join(dir, "count"), filepath.Join(dir, "exit")
	s, task := startable(t, "echo x >> "+count+"\nexit $(cat "+exit+")", "n1", "n2")
	for _, test := range []struct {
		again     bool
		status    string
		submitted int
	}{{false, "0", 2}, {true, "0", 2}, {false, "1", 4}} {
		must.Do(t, os.WriteFile(exit, []byte(test.status), 0o600))
		s.looked, task.Again = time.Now(), test.again
		err := s.Start(t.Context(), task)
		text, _ := os.ReadFile(count)
		if n := strings.Count(string(text), "x"); n != test.submitted || (err != nil) != (test.status != "0") || s.looked.IsZero() == test.again {
			t.Errorf("%+v: %d are submitted, the list is believed: %t, %v", test, n, !s.looked.IsZero(), err)
		}
	}
}
