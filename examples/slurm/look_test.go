// This file tests looks at a cluster, and what is ended on it, with programs in the place of Slurm's commands: they print what
// is in files, and note how they were called. The jobs and nodes are those of testdata, as Slurm 22.05 has printed them.

package slurm

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/internal/must"
)

// commands are those of Slurm, as far as they are called here. Each call adds a line to the file calls.
var commands = map[string]string{
	"scontrol": `case "$1" in write) cat script;; esac`,
	"sinfo":    "cat nodes",
	"squeue":   `if [ "$1" = --json ]; then cat jobs; else between=${5#JobID:}; between=${between%%,*}; sed "s/|/$between/g; s/\$/$between/" runs; fi`,
	"scancel":  `sed -i "/^$1|/s/RUNNING/CANCELLED/" runs`,
}

// fake is a cluster whose commands print the files of a folder.
type fake struct {
	*slurm
	testing.TB
	dir string
}

// newFake returns one with a node and nothing else.
func newFake(t testing.TB) *fake {
	t.Helper()
	f := &fake{newSlurm(4, t.TempDir(), daemon.Guarded{}), t, t.TempDir()}
	for name, text := range commands {
		text = "#!/bin/sh\ncd '" + f.dir + "' || exit 1\necho " + name + " \"$@\" >> calls\n" + text + "\n"
		must.Do(t, os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o700))
	}
	t.Setenv("PATH", f.dir+":"+os.Getenv("PATH"))
	f.show("nodes", node1(nil))
	f.show("jobs")
	f.write("script", "#!/bin/sh\n"+inert+"train\n")
	f.write("runs", "")
	f.write("calls", "")
	return f
}

// write replaces what a command prints.
func (f *fake) write(name, text string) {
	f.Helper()
	must.Do(f, os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600))
}

// fields is what Slurm prints of a job or a node.
type fields map[string]any

// show has a command print jobs or nodes as JSON.
func (f *fake) show(name string, list ...fields) {
	f.Helper()
	text := must.Have(json.Marshal(map[string]any{"errors": []any{}, name: append([]fields{}, list...)}))(f)
	f.write(name, string(text))
}

// recorded is the i-th job or node of a file in testdata with fields changed.
func recorded(name, key string, i int, changes fields) fields {
	text, err := os.ReadFile(filepath.Join("testdata", name))
	var all map[string]json.RawMessage
	var list []fields
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err == nil {
		err = json.Unmarshal(all[key], &list)
	}
	if err != nil {
		panic(err)
	}
	maps.Copy(list[i], changes)
	return list[i]
}

// held is an elastic job of user 1000, lr.12; node1 is the node n1 with 3 CPUs, 2500 MB and 2 GPUs in use; part is a part of that job
// which takes four CPUs, 2000 MB and two GPUs of the node.
func held(changes fields) fields { return recorded("squeue.json", "jobs", 0, changes) }

func node1(changes fields) fields {
	n := recorded("sinfo.json", "nodes", 0, fields{"alloc_cpus": 3, "alloc_memory": 2500, "gres_used": "gpu:a:1(IDX:0),gpu:b:1(IDX:1)"})
	maps.Copy(n, changes)
	return n
}

func part(changes fields) fields {
	p := recorded("squeue.json", "jobs", 5, fields{"job_id": 20, "name": "apportion/lr.12/a3/n1", "user_id": 1000, "job_state": "RUNNING", "nodes": "n1", "tasks": 2, "cpus": 4,
		"memory_per_node": 2000, "tres_per_node": "gres:gpu:2"})
	maps.Copy(p, changes)
	return p
}

// called counts the calls whose words begin so.
func (f *fake) called(words string) int {
	f.Helper()
	text := must.Have(os.ReadFile(filepath.Join(f.dir, "calls")))(f)
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

// What the parts of elastic jobs take is theirs to share: 3 CPUs, 2500 MB and 2 GPUs are used, of which those of parts are not
// other people's. A job that waits for room to end is given some.
func TestLookAtNode(t *testing.T) {
	f := newFake(t)
	ending := fields{"comment": "apportion completed", "state_reason": "Resources"}
	for _, test := range []struct {
		name string
		jobs []fields
		want apportion.Resources
	}{
		{"nobody of ours", nil, apportion.Resources{5, 13500, 2}},
		{"a part of no job", []fields{part(nil)}, apportion.Resources{5, 13500, 2}},
		{"a part has more CPUs than the node says are used", []fields{held(nil), part(nil)}, apportion.Resources{8, 15500, 4}},
		{"two parts", []fields{held(nil), part(nil), part(fields{"memory_per_node": 400})}, apportion.Resources{8, 15900, 4}},
		{"a part on another node", []fields{held(nil), part(fields{"nodes": "n2", "name": "apportion/lr.12/a3/n2"})}, apportion.Resources{5, 13500, 2}},
		{"a part that has ended", []fields{held(nil), part(fields{"job_state": "COMPLETED"})}, apportion.Resources{5, 13500, 2}},
		{"a part that waits", []fields{held(nil), part(fields{"nodes": "", "job_state": "PENDING"})}, apportion.Resources{5, 13500, 2}},
		{"a job of somebody else", []fields{held(nil), part(fields{"name": "other/lr.12/a3/n1"})}, apportion.Resources{5, 13500, 2}},
		{"a part by somebody else", []fields{held(nil), part(fields{"user_id": 1001})}, apportion.Resources{5, 13500, 2}},
		{"one that waits to end", []fields{held(ending)}, apportion.Resources{4, 13499, 2}},
		{"one that waits to end elsewhere", []fields{held(ending), held(fields{"comment": "apportion failed", "state_reason": "Resources", "partition": "q"})}, apportion.Resources{4, 13499, 2}},
	} {
		f.show("jobs", test.jobs...)
		if got, _, _, _ := f.look(); !got.Equal(test.want) {
			t.Errorf("%s: %v are left, want %v", test.name, got, test.want)
		}
	}
	f.show("nodes", node1(fields{"cpus": nil}))
	if _, err := f.Look(t.Context()); err == nil || !strings.Contains(err.Error(), `node "n1"`) {
		t.Errorf("a node without a number of CPUs: %v", err)
	}
}

// Jobs of others that wait for room are seen, the first in front, and neither those that wait for something else nor parts of runs.
func TestLookAtWaiting(t *testing.T) {
	f := newFake(t)
	other := func(id int, changes fields) fields {
		j := recorded("squeue.json", "jobs", 5, fields{"job_id": id, "name": "plain", "state_reason": "Priority", "tres_req_str": "cpu=8,mem=4G,node=1,billing=8,gres/gpu=2", "tasks": 4, "priority": 5})
		maps.Copy(j, changes)
		return j
	}
	f.show("jobs", other(30, nil), other(31, fields{"priority": 9, "state_reason": "Resources", "node_count": 2, "features": "fast"}), other(32, fields{"state_reason": "Dependency"}),
		other(33, fields{"job_state": "RUNNING", "nodes": "n1"}), held(nil), part(fields{"job_state": "PENDING", "nodes": "", "state_reason": "Resources"}), other(34, fields{"tres_req_str": "cpu=1,mem=1500M,node=1", "tasks": 1, "priority": nil}))
	view, err := f.Look(t.Context())
	p := apportion.Requirement{Key: "partition:p", Op: apportion.Exists}
	want := []controller.Waiting{
		{ID: "plain.31", Demand: apportion.Resources{4, 2048, 1}, Count: 2, PerServer: 1, Requires: []apportion.Requirement{p, {Key: "feature:fast", Op: apportion.Exists}}},
		{ID: "plain.30", Demand: apportion.Resources{2, 1024, 1}, Count: 4, Requires: []apportion.Requirement{p}},
		{ID: "plain.34", Demand: apportion.Resources{1, 1500, 0}, Count: 1, Requires: []apportion.Requirement{p}},
	}
	if err != nil || !reflect.DeepEqual(view.Waiting, want) {
		t.Errorf("%+v, %v, want %+v", view.Waiting, err, want)
	}
}

// The scripts of many jobs are fetched side by side: here each waits until another is fetched.
func TestManyScripts(t *testing.T) {
	f := newFake(t)
	scontrol := "#!/bin/sh\ncd '" + f.dir + "'\n[ -f alone ] && exit 1\ntouch wait.$$\nfor i in $(seq 100); do [ $(ls wait.* | wc -l) -gt 1 ] && exec cat script; sleep 0.1; done\ntouch alone; exit 1\n"
	must.Do(t, os.WriteFile(filepath.Join(f.dir, "scontrol"), []byte(scontrol), 0o700))
	f.show("jobs", held(nil), held(fields{"job_id": 13}), held(fields{"job_id": 14}))
	if _, jobs, rejected, _ := f.look(); len(jobs) != 3 {
		t.Errorf("%v, rejected %v", jobs, rejected)
	}
}

// Which jobs are the controller's, by their comment and state. The script of a job is fetched once. One that was released is
// there as before, since its script runs nothing.
func TestLookAtJobs(t *testing.T) {
	f := newFake(t)
	for _, test := range []struct {
		name      string
		changes   fields
		jobs      []string
		rejected  string
		withdrawn []string
	}{
		{"held", nil, []string{"lr.12"}, "", nil},
		{"held by an administrator", fields{"state_reason": "JobHeldAdmin"}, []string{"lr.12"}, "", nil},
		{"released", fields{"state_reason": "Priority"}, []string{"lr.12"}, "", nil},
		{"released, and started", fields{"job_state": "RUNNING", "state_reason": "None", "nodes": "n1", "batch_host": "n1"}, []string{"lr.12"}, "", nil},
		{"it is held again", fields{"job_state": "COMPLETING", "state_reason": "None", "restart_cnt": 1}, []string{"lr.12"}, "", nil},
		{"cancelled", fields{"job_state": "CANCELLED"}, nil, "", []string{"lr.12"}},
		{"it has ended by itself", fields{"job_state": "FAILED"}, nil, "", []string{"lr.12"}},
		{"told how it ends, and released", fields{"comment": "apportion completed", "state_reason": "Priority"}, nil, "", []string{"lr.12"}},
		{"a word that is no ending", fields{"comment": "apportion many"}, nil, "many", nil},
		{"another comment", fields{"comment": "apportioned max=8"}, nil, "", nil},
		{"no comment, and cancelled", fields{"comment": "", "job_state": "CANCELLED"}, nil, "", nil},
		{"a part by its name", fields{"name": "apportion/mf.7/a1/n1"}, []string{"apportion/mf.7/a1/n1.12"}, "", nil},
		{"cannot be understood", fields{"comment": "apportion max=many"}, nil, `max = "many"`, nil},
	} {
		f.show("jobs", held(test.changes))
		_, jobs, rejected, withdrawn := f.look()
		if !slices.Equal(jobs, test.jobs) || !slices.Equal(withdrawn, test.withdrawn) || !strings.Contains(rejected["lr.12"], test.rejected) || (len(rejected) == 0) != (test.rejected == "") {
			t.Errorf("%s: jobs %v, rejected %v, withdrawn %v", test.name, jobs, rejected, withdrawn)
		}
	}
	if n := f.called("scontrol write batch_script 12 -"); n != 2 {
		t.Errorf("the scripts of two jobs were fetched %d times", n)
	}
	// One that is forgotten may come again, with another script, and one that does not end by itself is none.
	must.Do(t, f.Forget(t.Context(), "lr.12"))
	f.write("script", "#!/bin/sh\ntrain\n")
	f.show("jobs", held(fields{"submit_time": time.Now().Unix() + 60}))
	if _, jobs, rejected, _ := f.look(); len(jobs) != 0 || !strings.Contains(rejected["lr.12"], "apportion-slurm submit") || f.called("scontrol write batch_script") != 3 {
		t.Errorf("%v, rejected %v, the script was fetched %d times", jobs, rejected, f.called("scontrol write batch_script"))
	}
}

// Names, comments, folders and accounts are texts and nothing else, whatever is in them, and so is the reason of a node's drain.
func TestTexts(t *testing.T) {
	f := newFake(t)
	for file, to := range map[string]string{"squeue.json": "jobs", "sinfo.json": "nodes"} {
		text := must.Have(os.ReadFile(filepath.Join("testdata", file)))(t)
		f.write(to, string(text))
	}
	view, err := f.Look(t.Context())
	if err != nil || len(view.Jobs) != 4 || len(view.Servers) != 3 {
		t.Fatalf("%+v, %v", view, err)
	}
	names := []string{"lr", "x UserId=root(0) GroupId=root(0)", "q\"u\\e\n7|RUNNING|None|2|apportion/lr.12/a3/n1\né", "\ufffd\x01\tuser_id\": 0,"}
	for i, user := range []uint32{1000, 1000, 1001, 1001} {
		var declared spec
		must.Do(t, json.Unmarshal(view.Jobs[i].Spec, &declared))
		if j := declared.Job; j.Name != names[i] || *j.UID != user || *j.GID != user || j.ID != int64(12+i) || j.Comment != "apportion max=8 min=2 weight=1.5" {
			t.Errorf("job %d is %+v", 12+i, j)
		}
		if d := view.Jobs[i].Application.Demand; !d.Equal(apportion.Resources{2, 1000, 1}) {
			t.Errorf("job %d takes %v", 12+i, d)
		}
	}
	if why := view.Rejected["exclusive.16"]; !strings.Contains(why, `UserId = "root(0)"`) {
		t.Errorf("a comment with more in it: %v", view.Rejected)
	}
	for i, down := range []bool{false, false, true} {
		if s := view.Servers[i]; (s.Down != "") != down || s.Draining != down || !s.Capacity.Equal(apportion.Resources{8, 16000, 4}) {
			t.Errorf("%+v", s)
		}
	}
}

// A job that has ended is told so and released, one that was cancelled is cancelled, and both again when Slurm shows them once more.
func TestEndedJob(t *testing.T) {
	f := newFake(t)
	for how, calls := range map[checkpoint.Ending][]string{
		checkpoint.Completed: {"scontrol update JobId=12 Comment=apportion completed", "scontrol release 12"},
		checkpoint.GivenUp:   {"scontrol update JobId=12 Comment=apportion failed", "scontrol release 12"},
		checkpoint.Cancelled: {"scancel 12"},
	} {
		f.write("calls", "")
		count := func(want int) {
			t.Helper()
			for _, call := range calls {
				if got := f.called(call); got != want {
					t.Errorf("%s: %d of %q, want %d", how, got, call, want)
				}
			}
		}
		if err := f.Ended(t.Context(), "team.lr.12", how, "it dies\nand dies"); err != nil {
			t.Error(err)
		}
		count(1)
		f.show("jobs", held(fields{"name": "team.lr"}))
		if _, jobs, rejected, _ := f.look(); len(jobs)+len(rejected) != 0 {
			t.Errorf("%v, rejected %v", jobs, rejected)
		}
		count(2)
		// What is forgotten by the controller has ended in the same way.
		if err := f.Forget(t.Context(), "team.lr.12"); err != nil {
			t.Error(err)
		}
		f.look()
		count(3)
	}
	// slurmctld has forgotten that it was released.
	f.write("calls", "")
	f.show("jobs", held(fields{"comment": "apportion failed"}))
	if f.look(); f.called("scontrol release 12") != 1 {
		t.Errorf("released %d times", f.called("scontrol release 12"))
	}
	f.write("scontrol", "#!/bin/sh\necho Job has already finished >&2\nexit 1\n")
	if err := f.Ended(t.Context(), "lr.12", checkpoint.Completed, ""); err != nil {
		t.Errorf("one that has ended by itself: %v", err)
	}
}

// What runs is what lives, with its tasks, by job and node.
func TestRunning(t *testing.T) {
	f := newFake(t)
	f.write("runs", strings.Join([]string{
		"1|1000|2|RUNNING|None|apportion/lr.12/a3/n1", "2|1000|1|PENDING|Resources|apportion/lr.12/a3/n2", "3|1000|4|COMPLETED|None|apportion/lr.12/a2/n1",
		"4|1000|3|COMPLETING|None|apportion/lr.12/a2/n1", "5|1000|9|RUNNING|None|somebody's", "6|1001|5|RUNNING|None|apportion/mf.7/a1/n1",
		"12|1000|1|PENDING|JobHeldUser|lr", "7|1001|1|PENDING|JobHeldUser|mf", "8|1001|7|RUNNING|None|apportion/lr.12/a3/n1", "9|1001|N/A|PENDING|None|other", ""}, "\n"))
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

// No text of a user passes for a field of a list, and a list that cannot be read is none.
func TestReadRuns(t *testing.T) {
	runs, err := readRuns("7;1000;2;RUNNING;None;apportion/lr|8|1001\n.3/a3/n1;\n8;1001;1;FAILED;a|b\nc;x;\n3;1000;1;PENDING;;y;\n", ";")
	if err != nil || len(runs) != 1 || runs[0] != (run{"7", "lr|8|1001\n.3", "n1", "RUNNING", "None", 3, 2}) {
		t.Errorf("%+v, %v", runs, err)
	}
	for _, text := range []string{"7;1000;2;RUNNING;None;lr", "7;1000;2;RUNNING;None;", "7;root;2;RUNNING;None;lr;\n", "12;1000;N/A;RUNNING;None;apportion/lr.12/a3/n1;\n"} {
		if runs, err := readRuns(text, ";"); err == nil {
			t.Errorf("%q is %+v", text, runs)
		}
	}
}

// A stop cancels each part of the attempt and of those before it on the node, until none lives; one that is completing is waited for.
func TestStopOfParts(t *testing.T) {
	f := newFake(t)
	f.write("runs", strings.Join([]string{
		"1|0|2|RUNNING|None|apportion/lr.12/a3/n1", "2|0|1|RUNNING|None|apportion/lr.12/a2/n1", "3|0|4|RUNNING|None|apportion/lr.12/a4/n1",
		"4|0|3|RUNNING|None|apportion/lr.12/a3/n2", "5|0|5|RUNNING|None|apportion/mf.13/a3/n1", "6|0|5|FAILED|None|apportion/lr.12/a1/n1",
		"12|0|1|PENDING|JobHeldUser|lr", "13|0|1|PENDING|JobHeldUser|mf", ""}, "\n"))
	for _, want := range []bool{true, false} {
		if left, err := f.Stop(t.Context(), "lr.12", 3, "n1"); left != want || err != nil {
			t.Errorf("something is left: %t, %v, want %t", left, err, want)
		}
	}
	for id, want := range map[string]int{"1": 1, "2": 1, "3": 0, "4": 0, "5": 0, "6": 0} {
		if got := f.called("scancel " + id); got != want {
			t.Errorf("job %s was cancelled %d times, want %d", id, got, want)
		}
	}
	f.write("runs", "7|0|2|COMPLETING|None|apportion/lr.12/a3/n1\n12|0|1|PENDING|JobHeldUser|lr\n")
	for _, down := range []bool{false, true} {
		f.looked, f.down = time.Time{}, map[string]bool{"n1": down}
		if left, err := f.Stop(t.Context(), "lr.12", 3, "n1"); left == down || err != nil || f.called("scancel 7") != 0 {
			t.Errorf("down %t: left %t, cancelled %d times, %v", down, left, f.called("scancel 7"), err)
		}
	}
}

// A part that waits for a node which the newest look has found drained is in trouble.
func TestTroubleOfDrained(t *testing.T) {
	f := newFake(t)
	trouble := func() string {
		t.Helper()
		f.looked = time.Time{}
		why, refused, err := f.Trouble(t.Context(), "lr.12", 3, managed.Part{Server: "n1", Count: 2})
		if err != nil || refused {
			t.Errorf("%q, refused %t, %v", why, refused, err)
		}
		return why
	}
	f.write("runs", "1|0|2|PENDING|Resources|apportion/lr.12/a3/n1\n12|0|1|PENDING|JobHeldUser|lr\n")
	f.look()
	if why := trouble(); why != "" {
		t.Errorf("a node that takes jobs: %s", why)
	}
	f.show("nodes", node1(fields{"state_flags": []string{"DRAIN"}}))
	f.look()
	if why := trouble(); !strings.Contains(why, "is drained") {
		t.Errorf("a node that is drained: %q", why)
	}
}

// A command that fails is an error of whoever asked, with its words, and so is an answer that cannot be read.
func TestCommandsFail(t *testing.T) {
	f := newFake(t)
	for _, text := range []string{"", "{}", `{"errors": []}`, `{"errors": [], "nodes": {}}`, `{"errors": ["no"], "nodes": []}`, `{"errors": [], "nodes": [{"cpus": "x"}]}`} {
		f.write("nodes", text)
		if view, err := f.Look(t.Context()); err == nil {
			t.Errorf("%q is %+v", text, view)
		}
	}
	for name := range commands {
		must.Do(t, os.WriteFile(filepath.Join(f.dir, name), []byte("#!/bin/sh\necho Unable to contact slurm controller >&2\nexit 1\n"), 0o700))
	}
	ctx := t.Context()
	for name, try := range map[string]func() error{
		"Look":      func() error { _, err := f.Look(ctx); return err },
		"Running":   func() error { _, err := f.Running(ctx); return err },
		"Stop":      func() error { _, err := f.Stop(ctx, "lr.12", 3, "n1"); return err },
		"Completed": func() error { return f.Ended(ctx, "lr.12", checkpoint.Completed, "") },
		"Cancelled": func() error { return f.Ended(ctx, "lr.12", checkpoint.Cancelled, "") },
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), "Unable to contact") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := f.Start(ctx, managed.Task{}); err == nil {
		t.Error("a start without a job")
	}
}
