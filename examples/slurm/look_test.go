// This file tests looks at a cluster, and what is ended on it, with programs in the place of Slurm's commands: they print what
// is in files, and note how they were called.

package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/examples/internal/external"
)

// commands are those of Slurm, as far as they are called here. Each call adds a line to the file calls.
var commands = map[string]string{
	"scontrol": `case "$*" in *"show node"*) cat nodes;; *"show job"*) cat jobs;; *batch_script*) cat script;; esac`,
	"squeue":   "cat runs",
	"scancel":  "sed -i \"s/^$1|RUNNING/$1|CANCELLED/\" runs",
}

// fake is a cluster whose commands print the files of a folder.
type fake struct {
	*slurm
	*testing.T
	dir string
}

// newFake returns one with a node and nothing else.
func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{newSlurm(4, t.TempDir(), external.Guarded{}), t, t.TempDir()}
	for name, text := range commands {
		text = "#!/bin/sh\ncd '" + f.dir + "' || exit 1\necho " + name + " \"$@\" >> calls\n" + text + "\n"
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", f.dir+":"+os.Getenv("PATH"))
	f.write("nodes", aNode+"\n")
	f.write("jobs", "No jobs in the system\n")
	f.write("script", "#!/bin/sh\ntrain\n")
	f.write("runs", "")
	f.write("calls", "")
	return f
}

// write replaces what a command prints.
func (f *fake) write(name, text string) {
	f.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
}

// called counts the calls whose words begin so.
func (f *fake) called(words string) int {
	f.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, "calls"))
	if err != nil {
		f.Fatal(err)
	}
	return strings.Count("\n"+string(text), "\n"+words)
}

// look is what a look sees of the only node, and of jobs.
func (f *fake) look() (capacity apportion.Resources, jobs []string, rejected map[string]string, withdrawn []string) {
	f.Helper()
	view, err := f.Look(f.Context())
	if err != nil || len(view.Servers) != 1 {
		f.Fatalf("%+v, %v", view, err)
	}
	for i := range view.Jobs {
		jobs = append(jobs, view.Jobs[i].Application.ID)
	}
	return view.Servers[0].Capacity, jobs, view.Rejected, view.Withdrawn
}

// changed is the held job with words replaced.
func changed(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(heldJob) + "\n" }

// A part of a run that takes four CPUs, 2000 MB and two GPUs of the node.
const aPart = "JobId=20 JobName=apportion/lr.12/a3/n1 JobState=RUNNING NodeList=n1 NumTasks=2 TRES=cpu=4,mem=2000M,node=1 TresPerNode=gres:gpu:2\n"

// What the parts of elastic jobs take is theirs to share: 3 CPUs, 2500 MB and 2 GPUs are used, of which those of parts are not
// other people's.
func TestLookAtNode(t *testing.T) {
	f := newFake(t)
	for _, test := range []struct {
		name, jobs string
		want       apportion.Resources
	}{
		{"nobody of ours", "No jobs in the system\n", apportion.Resources{5, 13500, 2}},
		{"a part has more CPUs than the node says are used", aPart, apportion.Resources{8, 15500, 4}},
		{"two parts", aPart + strings.ReplaceAll(aPart, "mem=2000M", "mem=400M"), apportion.Resources{8, 15900, 4}},
		{"a part on another node", strings.ReplaceAll(aPart, "n1", "n2"), apportion.Resources{5, 13500, 2}},
		{"a part that has ended", strings.Replace(aPart, "RUNNING", "COMPLETED", 1), apportion.Resources{5, 13500, 2}},
		{"a job of somebody else", strings.Replace(aPart, "apportion/", "other/", 1), apportion.Resources{5, 13500, 2}},
	} {
		f.write("jobs", test.jobs)
		if got, _, _, _ := f.look(); !got.Equal(test.want) {
			t.Errorf("%s: %v are left, want %v", test.name, got, test.want)
		}
	}
	f.write("nodes", strings.ReplaceAll(aNode, "CPUTot=8", "CPUTot=all")+"\n")
	if _, err := f.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "node n1") {
		t.Errorf("a node without a number of CPUs: %v", err)
	}
}

// Which jobs are the controller's, by their comment, state and reason. The script of a job is fetched once.
func TestLookAtJobs(t *testing.T) {
	f := newFake(t)
	for _, test := range []struct {
		name, job string
		jobs      []string
		rejected  string
		withdrawn []string
	}{
		{"held", changed(), []string{"lr.12"}, "", nil},
		{"held by an administrator", changed("JobHeldUser", "JobHeldAdmin"), []string{"lr.12"}, "", nil},
		{"not held", changed("JobHeldUser", "Priority"), nil, "", nil},
		{"it runs", changed("PENDING", "RUNNING"), nil, "", nil},
		{"cancelled", changed("PENDING", "CANCELLED"), nil, "", []string{"lr.12"}},
		{"another comment", changed("Comment=apportion", "Comment=apportioned"), nil, "", nil},
		{"no comment, and cancelled", changed("Comment=apportion max=8", "Comment=", "PENDING", "CANCELLED"), nil, "", nil},
		{"cannot be understood", changed("max=8", "max=many"), nil, "max=many", nil},
	} {
		f.write("jobs", test.job)
		_, jobs, rejected, withdrawn := f.look()
		if !slices.Equal(jobs, test.jobs) || !slices.Equal(withdrawn, test.withdrawn) || !strings.Contains(rejected["lr.12"], test.rejected) || (len(rejected) == 0) != (test.rejected == "") {
			t.Errorf("%s: jobs %v, rejected %v, withdrawn %v", test.name, jobs, rejected, withdrawn)
		}
	}
	if n := f.called("scontrol write batch_script 12 -"); n != 1 {
		t.Errorf("the script was fetched %d times", n)
	}
	// One that is forgotten may come again, with another script.
	if err := f.Forget(t.Context(), "lr.12"); err != nil {
		t.Fatal(err)
	}
	f.write("jobs", changed("Comment=", "SubmitTime=9999-01-01T00:00:00 Comment="))
	if _, jobs, _, _ := f.look(); !slices.Equal(jobs, []string{"lr.12"}) || f.called("scontrol write batch_script") != 2 {
		t.Errorf("%v, the script was fetched %d times", jobs, f.called("scontrol write batch_script"))
	}
}

// A job that is over is cancelled, and again when Slurm shows it once more.
func TestEndedJob(t *testing.T) {
	f := newFake(t)
	if err := f.Ended(t.Context(), "team.lr.12", checkpoint.Completed, ""); err != nil || f.called("scancel 12") != 1 {
		t.Errorf("%d are cancelled, %v", f.called("scancel"), err)
	}
	f.write("jobs", changed("JobName=lr", "JobName=team.lr", "Comment=", "SubmitTime=2026-11-22T20:00:00 Comment="))
	if _, jobs, rejected, _ := f.look(); len(jobs)+len(rejected) != 0 || f.called("scancel 12") != 2 {
		t.Errorf("%v, rejected %v, cancelled %d times", jobs, rejected, f.called("scancel 12"))
	}
}

// What runs is what lives, with its tasks, by job and node.
func TestRunning(t *testing.T) {
	f := newFake(t)
	f.write("runs", strings.Join([]string{
		"1|RUNNING|None|2|apportion/lr.12/a3/n1", "2|PENDING|Resources|1|apportion/lr.12/a3/n2", "3|COMPLETED|None|4|apportion/lr.12/a2/n1",
		"4|COMPLETING|None|3|apportion/lr.12/a2/n1", "5|RUNNING|None|9|somebody's", "6|RUNNING|None|5|apportion/mf.7/a1/n1", "a line without fields", ""}, "\n"))
	running, err := f.Running(t.Context())
	if err != nil || len(running) != 2 || running["lr.12"]["n1"] != 5 || running["lr.12"]["n2"] != 1 || running["mf.7"]["n1"] != 5 || len(running["lr.12"]) != 2 {
		t.Errorf("%v, %v", running, err)
	}
	// Who asks at the same time is answered from one list.
	f.looked = time.Now().Add(time.Hour)
	if _, err := f.Running(t.Context()); err != nil || f.called("squeue") != 1 {
		t.Errorf("squeue ran %d times, %v", f.called("squeue"), err)
	}
}

// A stop cancels each part of the attempt and of those before it on the node, once, and returns when none lives.
func TestStopOfParts(t *testing.T) {
	f := newFake(t)
	f.write("runs", strings.Join([]string{
		"1|RUNNING|None|2|apportion/lr.12/a3/n1", "2|RUNNING|None|1|apportion/lr.12/a2/n1", "3|RUNNING|None|4|apportion/lr.12/a4/n1",
		"4|RUNNING|None|3|apportion/lr.12/a3/n2", "5|RUNNING|None|5|apportion/mf.7/a3/n1", "6|FAILED|None|5|apportion/lr.12/a1/n1", ""}, "\n"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := f.Stop(ctx, "lr.12", 3, "n1"); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]int{"1": 1, "2": 1, "3": 0, "4": 0, "5": 0, "6": 0} {
		if got := f.called("scancel " + id); got != want {
			t.Errorf("job %s was cancelled %d times, want %d", id, got, want)
		}
	}
	// A node that Slurm does not reach keeps nobody waiting.
	f.write("runs", "7|COMPLETING|None|2|apportion/lr.12/a3/n1\n")
	f.looked, f.down = time.Time{}, map[string]bool{"n1": true}
	if err := f.Stop(ctx, "lr.12", 3, "n1"); err != nil || f.called("scancel 7") != 1 {
		t.Errorf("cancelled %d times, %v", f.called("scancel 7"), err)
	}
}

// A part that waits for a node which the newest look has found drained is in trouble.
func TestTroubleOfDrained(t *testing.T) {
	f := newFake(t)
	trouble := func() string {
		t.Helper()
		f.looked = time.Time{}
		why, err := f.Trouble(t.Context(), "lr.12", 3, "n1")
		if err != nil {
			t.Fatal(err)
		}
		return why
	}
	f.write("runs", "1|PENDING|Resources|2|apportion/lr.12/a3/n1\n")
	if err := os.MkdirAll(f.notes("lr.12"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.noteOf("lr.12", 3, "n1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.look()
	if why := trouble(); why != "" {
		t.Errorf("a node that takes jobs: %s", why)
	}
	f.write("nodes", strings.ReplaceAll(aNode, "State=MIXED", "State=MIXED+DRAIN")+"\n")
	f.look()
	if why := trouble(); !strings.Contains(why, "is drained") {
		t.Errorf("a node that is drained: %q", why)
	}
}

// A command that fails is an error of whoever asked, with its words.
func TestCommandsFail(t *testing.T) {
	f := newFake(t)
	for name := range commands {
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte("#!/bin/sh\necho Unable to contact slurm controller >&2\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	for name, try := range map[string]func() error{
		"Look":    func() error { _, err := f.Look(ctx); return err },
		"Running": func() error { _, err := f.Running(ctx); return err },
		"Stop":    func() error { return f.Stop(ctx, "lr.12", 3, "n1") },
		"Ended":   func() error { return f.Ended(ctx, "lr.12", checkpoint.Completed, "") },
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), "Unable to contact") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := f.Start(ctx, managed.Task{}); err == nil {
		t.Error("a start without a job")
	}
}
