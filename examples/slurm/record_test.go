// This file tests what is read of Slurm's records, without a cluster.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/examples/internal/external"
)

// heldJob is what `scontrol -o show job` says of an elastic job.
const heldJob = `JobId=12 JobName=lr UserId=anna(1000) GroupId=lab(100) MCS_label=N/A Priority=0 Account=vision QOS=(null) JobState=PENDING Reason=JobHeldUser ` +
	`Dependency=(null) Partition=gpu ReqNodeList=(null) ExcNodeList=(null) NodeList= NumTasks=1 CPUs/Task=2 ReqB:S:C:T=0:0:*:* TRES=cpu=2,mem=1000M ` +
	`MinCPUsNode=2 MinMemoryCPU=500M Features=fast&big Command=/home/anna/my job.sh WorkDir=/home/anna Comment=apportion max=8 min=2 weight=1.5 save_signal=USR1 ` +
	`StdOut=/home/anna/slurm-12.out Power= TresPerNode=gres:gpu:a100:1 `

const aNode = `NodeName=n1 Arch=x86_64 CPUAlloc=3 CPUEfctv=8 CPUTot=8 CPULoad=1.5 AvailableFeatures=fast,big Gres=gpu:4 GresUsed=gpu:2(IDX:0-1) RealMemory=16000 ` +
	`AllocMem=2500 State=MIXED Partitions=gpu,all OS=Linux 6.1 #1 SMP BootTime=2026-11-22T12:02:33`

func TestReadRecord(t *testing.T) {
	r := readRecord(heldJob)
	for key, want := range map[string]string{"JobId": "12", "QOS": "", "NodeList": "", "CPUs/Task": "2", "Command": "/home/anna/my job.sh",
		"Comment": "apportion max=8 min=2 weight=1.5 save_signal=USR1", "TresPerNode": "gres:gpu:a100:1", "Reason": "JobHeldUser"} {
		if r[key] != want {
			t.Errorf("%s is %q, want %q", key, r[key], want)
		}
	}
	if list := readRecords("No jobs in the system\n" + heldJob + "\n" + aNode + "\n"); len(list) != 2 {
		t.Errorf("%d records", len(list))
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "0": 0, "500M": 500, "2G": 2048, "1T": 1 << 20, "1024K": 1, "16000": 16000, "1.5G": 1536} {
		if got, err := megabytes(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"M", "-1", "5X", "1e99", "a"} {
		if got, err := megabytes(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
	for text, want := range map[string]int64{"": 0, "gpu:4": 4, "gres:gpu:1": 1, "gres/gpu=3": 3, "gpu:a100:2(IDX:0-1),gpu:t4:1": 3, "gpu:a100": 1, "shard:4": 0} {
		if got := gpus(text); got != want {
			t.Errorf("%q: %d GPUs, want %d", text, got, want)
		}
	}
}

func TestApplicationOf(t *testing.T) {
	r := readRecord(heldJob)
	app, err := applicationOf(r, strings.Fields(r["Comment"])[1:])
	if err != nil || app.ID != "lr.12" || app.Min != 2 || app.Max != 8 || app.Weight != 1.5 || !app.Demand.Equal(apportion.Resources{2, 1000, 1}) {
		t.Fatalf("%+v, %v", app, err)
	}
	server, err := serverOf(readRecord(aNode), apportion.Resources{2, 1000, 1})
	if err != nil || server.ID != "n1" || server.Down != "" || server.Draining || !server.Capacity.Equal(apportion.Resources{7, 14500, 3}) {
		t.Errorf("%+v, %v", server, err)
	}
	if !server.Satisfies(app.Requires) {
		t.Errorf("%v does not satisfy %v", server.Labels, app.Requires)
	}
	for _, label := range []string{"partition:gpu", "feature:fast", "feature:big"} {
		delete(server.Labels, label)
		if server.Satisfies(app.Requires) {
			t.Errorf("a node without %s", label)
		}
		server.Labels[label] = "yes"
	}
	for want, change := range map[string]func(record){
		"max=many":       func(r record) { r["Comment"] = "apportion max=many" },
		"weight=-":       func(r record) { r["Comment"] = "apportion weight=-" },
		"save_signal":    func(r record) { r["Comment"] = "apportion save_signal=KILL" },
		"not known":      func(r record) { r["Comment"] = "apportion maximum=3" },
		"ReqNodeList":    func(r record) { r["ReqNodeList"] = "n[1-2]" },
		"Dependency":     func(r record) { r["Dependency"] = "afterok:3" },
		"its features":   func(r record) { r["Features"] = "a|b" },
		"its partition":  func(r record) { r["Partition"] = "a,b" },
		"is a size":      func(r record) { r["MinMemoryCPU"] = "much" },
		"CPUs/Task=some": func(r record) { r["CPUs/Task"] = "some" },
	} {
		r := readRecord(heldJob)
		change(r)
		if _, err := applicationOf(r, strings.Fields(r["Comment"])[1:]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for state, down := range map[string]bool{"IDLE": false, "MIXED+DRAIN": false, "DOWN*": true, "IDLE*": true, "DOWN+DRAIN": true, "ALLOCATED+POWERED_DOWN": true, "FAIL": true} {
		r := readRecord(aNode)
		r["State"] = state
		if s, err := serverOf(r, nil); err != nil || (s.Down != "") != down || s.Draining != strings.Contains(state, "DRAIN") {
			t.Errorf("%s: %+v, %v", state, s, err)
		}
	}
	bad := readRecord(aNode)
	bad["CPUTot"] = "all"
	if _, err := serverOf(bad, nil); err == nil {
		t.Error("CPUTot=all")
	}
}

func TestParts(t *testing.T) {
	for _, job := range []string{"lr.12", "team/lr.12", "a1/n2.3"} {
		one, isRun := readRun("7", nameOf(job, 3, "n1"), "RUNNING", "None", "2")
		if !isRun || one.job != job || one.attempt != 3 || one.node != "n1" || one.tasks != 2 {
			t.Errorf("%+v, %v", one, isRun)
		}
	}
	for _, name := range []string{"lr", "apportion", "apportion/lr", "other/lr/a3/n1"} {
		if one, isRun := readRun("7", name, "RUNNING", "None", "1"); isRun {
			t.Errorf("%q is %+v", name, one)
		}
	}
	r := readRecord("JobId=9 JobName=apportion/lr.12/a3/n1 JobState=RUNNING NodeList=n1 NumTasks=2 TRES=cpu=4,mem=2000M,node=1 TresPerNode=gres:gpu:2")
	if node, use, isOwn := ownUse(r); !isOwn || node != "n1" || !use.Equal(apportion.Resources{4, 2000, 2}) {
		t.Errorf("%s, %v, %v", node, use, isOwn)
	}
	r["JobState"] = "COMPLETED"
	if _, use, isOwn := ownUse(r); !isOwn || !use.Equal(apportion.Resources{0, 0, 0}) {
		t.Errorf("one that has ended takes %v", use)
	}
	if _, _, isOwn := ownUse(readRecord(heldJob)); isOwn {
		t.Error("a job of a user is a part of a run")
	}
}

// A part is in trouble when it has ended, when Slurm has none, and when it waits for a node that is drained.
func TestTroubleOf(t *testing.T) {
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
		if got := troubleOf(runs, "lr.12", 3, c.node, c.closed); got != c.want {
			t.Errorf("%s, closed is %v: %q, want %q", c.node, c.closed, got, c.want)
		}
	}
}

// What is submitted for a part: exactly its tasks on its node, each with a guard.
func TestScript(t *testing.T) {
	declared := &spec{Record: readRecord(heldJob), Script: "#!/bin/sh\n"}
	task := &managed.Task{Epoch: 4, Run: runner.Run{Job: "it's.12", Attempt: 3, Containers: []string{"n1", "n2", "n2"}, Dir: "/shared/runs/lr/3"}}
	s := newSlurm(4, t.TempDir(), external.Guarded{Program: "/bin/guard", URL: "http://c/lease", Every: time.Second})
	part := task.Servers()[1]
	for _, want := range []string{"--nodelist=n2", "--ntasks=2", "--cpus-per-task=2", "--mem=2000", "--gres=gpu:2", "--partition=gpu", "--account=vision",
		"--constraint=fast&big", "--no-requeue", "--job-name=apportion/it's.12/a3/n2", "--chdir=/home/anna"} {
		if !slices.Contains(options(declared, task, part), want) {
			t.Errorf("no %s: %q", want, options(declared, task, part))
		}
	}
	text := s.script(declared, task, part)
	for _, want := range []string{`export APPORTION_JOB='it'\''s.12'`, "export APPORTION_SERVER='n2'", "export APPORTION_EPOCH='4'", "-rank 1+$SLURM_PROCID", `-save "USR1"`, "exec srun"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s:\n%s", want, text)
		}
	}
}

// A job that is over stays over, should Slurm show it again; a later one of its name and number is another.
func TestBury(t *testing.T) {
	s := newSlurm(4, t.TempDir(), external.Guarded{})
	over := func(job, submitted string, want bool) {
		t.Helper()
		if got, err := s.isBuried(job, submitted); err != nil || got != want {
			t.Errorf("%s of %s: %v, %v", job, submitted, got, err)
		}
	}
	over("lr.12", "2026-11-22T20:00:00", false)
	if err := s.bury("lr.12", time.Date(2026, 11, 22, 20, 10, 0, 0, time.Local)); err != nil {
		t.Fatal(err)
	}
	over("lr.12", "2026-11-22T20:00:00", true)
	over("lr.12", "2026-11-22T20:10:00", true)
	over("lr.12", "2026-11-22T20:10:01", false)
	over("lr.13", "2026-11-22T20:00:00", false)
	// What is forgotten is buried as well, and the note of it stays.
	if err := s.Forget(t.Context(), "lr.13"); err != nil {
		t.Fatal(err)
	}
	over("lr.13", "2026-11-22T20:00:00", true)
}

// A part is noted before it is submitted, so that what was asked for once is never asked for again.
func TestStartOnce(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	count := filepath.Join(dir, "count")
	if err := os.WriteFile(filepath.Join(bin, "sbatch"), []byte("#!/bin/sh\necho x >> "+count+"\nexit $(cat "+filepath.Join(dir, "exit")+")\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"exit": "0", "token": "t"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := readRecord(heldJob)
	r["UserId"], r["GroupId"] = "root(0)", "root(0)"
	text, err := json.Marshal(spec{Record: r, Script: "#!/bin/sh\n"})
	if err != nil {
		t.Fatal(err)
	}
	s := newSlurm(4, t.TempDir(), external.Guarded{Program: "/bin/guard"})
	task := managed.Task{Spec: text, Run: runner.Run{Job: "lr.12", Attempt: 3, Containers: []string{"n1", "n2"}, Dir: t.TempDir()}}
	submitted := func() int {
		text, _ := os.ReadFile(count)
		return strings.Count(string(text), "x")
	}
	s.looked = time.Now()
	for range 3 {
		if err := s.Start(t.Context(), task); err != nil || submitted() != 2 {
			t.Errorf("%d are submitted, %v", submitted(), err)
		}
	}
	if !s.looked.IsZero() {
		t.Error("the list from before is believed")
	}
	if err := s.Forget(t.Context(), "lr.12"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "exit"), []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context(), task); err == nil || submitted() != 4 {
		t.Errorf("%d are submitted, %v", submitted(), err)
	}
}

// Every server of a run asks for it at the same time, and whoever is told that it was asked for finds it in Slurm.
func TestStartWaits(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	count, token := filepath.Join(dir, "count"), filepath.Join(dir, "token")
	for name, text := range map[string]string{filepath.Join(bin, "sbatch"): "#!/bin/sh\nsleep 0.2\necho x >> " + count + "\n", token: "t"} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r := readRecord(heldJob)
	r["UserId"], r["GroupId"] = fmt.Sprintf("me(%d)", os.Getuid()), fmt.Sprintf("me(%d)", os.Getgid())
	text, err := json.Marshal(spec{Record: r, Script: "#!/bin/sh\n"})
	if err != nil {
		t.Fatal(err)
	}
	s := newSlurm(4, t.TempDir(), external.Guarded{Program: "/bin/guard"})
	task := managed.Task{Spec: text, Run: runner.Run{Job: "lr.12", Attempt: 3, Containers: []string{"n1", "n2", "n3"}, Dir: t.TempDir()}}
	// The question how it stands comes before, while and after it is asked for. This Slurm says that it has nothing of it.
	if err := os.WriteFile(filepath.Join(bin, "squeue"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	trouble := func() string {
		why, err := s.Trouble(t.Context(), "lr.12", 3, "n2")
		if err != nil {
			t.Error(err)
		}
		return why
	}
	if why := trouble(); why != "" {
		t.Errorf("before it was asked for: %s", why)
	}
	defer func() {
		if why := trouble(); why == "" {
			t.Error("Slurm has lost it, and that is no trouble")
		}
	}()
	var all sync.WaitGroup
	for range task.Containers {
		all.Go(func() {
			for text, _ := os.ReadFile(count); strings.Count(string(text), "x") == 0; text, _ = os.ReadFile(count) {
				why := trouble()
				// Whether it was still being submitted when the answer came says the count after it, not the one before.
				if text, _ := os.ReadFile(count); why != "" && strings.Count(string(text), "x") == 0 {
					t.Errorf("while it is being submitted: %s", why)
					return
				}
			}
		})
		all.Go(func() {
			err := s.Start(t.Context(), task)
			if text, _ := os.ReadFile(count); err != nil || strings.Count(string(text), "x") != len(task.Containers) {
				t.Errorf("it is said to be asked for when %d of %d parts are submitted: %v", strings.Count(string(text), "x"), len(task.Containers), err)
			}
		})
	}
	all.Wait()
}
