// This file plays elastic jobs on a real Slurm cluster and asks their workers' own logs whether anything ran twice or was
// lost.

package slurm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// bench is a cluster with a controller.
type bench struct {
	*cluster
	*managertest.Bench
	cpus int // of a task; 0: one
}

func newBench(t testing.TB, nodes int, more ...string) *bench {
	t.Helper()
	c := newCluster(t, nodes, more...)
	return &bench{cluster: c, Bench: managertest.New(t, c.Dir)}
}

// submit submits an elastic job as root, and returns its ID. A task takes a CPU.
func (b *bench) submit(name string, most, steps, weight int) string {
	b.Bench.Helper()
	return b.elastic(name, fmt.Sprintf("exec %s train -steps %d -cost 1ms", b.Trainer, steps), fmt.Sprintf("--comment=apportion max=%d weight=%d", most, weight))
}

// elastic submits a job for the controller as root.
func (b *bench) elastic(name, script string, options ...string) string {
	b.Bench.Helper()
	file := filepath.Join(b.Dir, name+".sh")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		b.Bench.Fatal(err)
	}
	return b.taken(name, "", filepath.Join(b.Dir, "controller"), append(append([]string{"submit"}, b.usual(name, options)...), file)...)
}

// sbatch submits a job that is none of the controller's, as root.
func (b *bench) sbatch(name, script string, options ...string) string {
	b.Bench.Helper()
	return b.taken(name, "#!/bin/sh\n"+script+"\n", "sbatch", b.usual(name, options)...)
}

// usual are the options of a job.
func (b *bench) usual(name string, more []string) []string {
	return append([]string{"--parsable", "--job-name=" + name, "--cpus-per-task=" + strconv.Itoa(max(1, b.cpus)), "--mem-per-cpu=500", "--chdir=" + b.Dir}, more...)
}

// taken submits a job, also to a slurmctld that was killed a moment ago, and returns its ID.
func (b *bench) taken(name, stdin, program string, args ...string) string {
	b.Bench.Helper()
	var text string
	processes.Eventually(b.Bench, "the job is taken", 60*time.Second, func() (so bool) {
		var err error
		text, err = command(context.Background(), stdin, program, args...)
		return err == nil
	})
	return name + "." + strings.TrimSpace(text)
}

// job is how Slurm shows a job.
func (b *bench) job(id string) *job {
	b.Bench.Helper()
	jobs, err := ask[job](context.Background(), "squeue", "jobs")
	if err != nil {
		b.Bench.Fatal(err)
	}
	for i := range jobs {
		if strconv.FormatInt(jobs[i].ID, 10) == numberOf(id) {
			return &jobs[i]
		}
	}
	b.Bench.Fatalf("Slurm has no job %s", id)
	return nil
}

// becomes waits until Slurm says so of a job.
func (b *bench) becomes(id, state string) {
	b.Bench.Helper()
	processes.Eventually(b.Bench, id+" is "+state, 60*time.Second, func() bool { b.Report(); return b.job(id).State == state })
}

// Jobs come, share the cluster, finish, and are withdrawn. What waits for a job that has finished begins.
func TestJobsAreShared(t *testing.T) {
	b := newBench(t, 3)
	after := ""
	b.Share(b.Verbs(), func(id string) {
		after = b.sbatch("after", "exit 0", "--dependency=afterok:"+numberOf(id), "--output=/dev/null")
		b.becomes(id, "COMPLETED")
	})
	b.becomes(after, "COMPLETED")
}

// A job that its user releases, once and again, trains only in its elastic run, and that goes on.
func TestReleased(t *testing.T) {
	b := newBench(t, 1)
	id := b.submit("a", 4, 100000, 1)
	b.Holds(map[string]int{id: 4})
	attempt := b.Report().Jobs[0].Job.Attempt
	for _, then := range []struct {
		what string
		so   func(*job) bool
	}{
		{"its script holds it again", func(j *job) bool {
			text, _ := os.ReadFile(filepath.Join(b.Dir, "slurm-"+numberOf(id)+".out")) // it may not be there
			return j.isHeld() && strings.Contains(string(text), "released, and held again")
		}},
		// Slurm starts what was requeued two minutes later.
		{"it waits", func(j *job) bool { return j.State == "PENDING" && j.Reason == "BeginTime" }},
	} {
		b.slurm("scontrol", "release", numberOf(id))
		processes.Eventually(b.Bench, "it is released, and "+then.what, 60*time.Second, func() bool { return then.so(b.job(id)) })
		b.Holds(map[string]int{id: 4})
		if got := b.Report().Jobs[0].Job.Attempt; got != attempt {
			t.Errorf("it is released, and %s: attempt %d runs, and %d ran before", then.what, got, attempt)
		}
	}
	b.Check()
}

// An elastic job that has all CPUs makes way for a plain job, and has them back when that is over.
func TestMakesWay(t *testing.T) {
	b := newBench(t, 2)
	id := b.submit("a", 16, 1000000, 1)
	b.Holds(map[string]int{id: 16})
	plain := b.sbatch("plain", "exec sleep 40", "--ntasks=6", "--output=/dev/null")
	b.becomes(plain, "RUNNING")
	b.Holds(map[string]int{id: 10})
	if state := b.job(plain).State; state != "RUNNING" {
		t.Errorf("the plain job is %s before the elastic one goes on beside it", state)
	}
	b.becomes(plain, "COMPLETED")
	b.Holds(map[string]int{id: 16})
	runs, err := os.ReadDir(filepath.Join(b.Shared, "runs", id))
	// It is given all, makes way, leaves for another node where Slurm has begun the plain job on the one that it was to have, once more in
	// vain if nothing was decided by then, and grows. The log tells of each.
	count := slices.DeleteFunc(runs, func(e os.DirEntry) bool { return !e.IsDir() })
	if err != nil || len(count) > 5 {
		t.Errorf("it has run %d times, %v", len(count), err)
	}
	log, err := os.ReadFile(filepath.Join(b.Dir, "controller.log"))
	for _, run := range count {
		if err != nil || !strings.Contains(string(log), `msg="job starts" program=apportion-slurm job=`+id+" attempt="+run.Name()+" ") {
			t.Errorf("the log does not tell of attempt %s, %v:\n%s", run.Name(), err, log)
		}
	}
	b.Check()
}

// A plain job takes room from an elastic one by Slurm's own preemption where the parts of that are in a partition of the lowest tier,
// also from a controller that makes way for none. The elastic job goes on with what is left, and none of its work is lost.
func TestPreempted(t *testing.T) {
	b := newBench(t, 2, "PreemptType=preempt/partition_prio", "PreemptMode=CANCEL", "PriorityType=priority/multifactor", "PriorityWeightAge=1000",
		"PartitionName=low Nodes=n[1-2] PriorityTier=0 MaxTime=INFINITE State=UP")
	b.Set("-partition", "low", "-waiting-hold", "-1s")
	id := b.submit("a", 16, 1000000, 1)
	b.Holds(map[string]int{id: 16})
	b.Saved(id)
	for _, line := range strings.Split(strings.TrimSpace(b.slurm("squeue", "-h", "-t", "R", "-o", "%P %y")), "\n") {
		if line != "low "+strconv.Itoa(lowered) {
			t.Errorf("a part has the partition and the nice value %s", line)
		}
	}
	plain := b.sbatch("plain", "exec sleep 30", "--ntasks=6", "--output=/dev/null")
	b.becomes(plain, "RUNNING")
	// A part counts as preempted once it has been cleared away.
	processes.Eventually(b.Bench, "Slurm has preempted a part", 60*time.Second, func() bool {
		return strings.Contains(b.slurm("squeue", "-h", "-t", "PREEMPTED", "-o", "%j"), mark+"/"+id)
	})
	b.Holds(map[string]int{id: 10})
	b.becomes(plain, "COMPLETED")
	b.Holds(map[string]int{id: 16})
	b.Check()
}

// A controller at rest asks slurmctld some forty times a minute, by Slurm's own count.
func TestIdleLooks(t *testing.T) {
	b := newBench(t, 2)
	b.Set("-look", "1s", "-look-idle", "5s")
	id := b.submit("a", 16, 1000000, 1)
	b.Holds(map[string]int{id: 16})
	const rest, during = 15 * time.Second, 30 * time.Second
	time.Sleep(rest)
	b.slurm("sdiag", "--reset")
	time.Sleep(during)
	text := must.Have(command(context.Background(), "", "sdiag"))(t)
	calls := int64(0)
	for _, found := range regexp.MustCompile(`(?m)^\s+REQUEST_(?:JOB|NODE|PARTITION|BUILD)_INFO\S*.*count:(\d+)`).FindAllStringSubmatch(text, -1) {
		n := must.Have(strconv.ParseInt(found[1], 10, 64))(t)
		calls += n
	}
	if t.Logf("%d calls in %v", calls, during); calls == 0 || calls > 40 {
		t.Errorf("%d calls in %v:\n%.3000s", calls, during, text)
	}
}

// A job whose runs come to nothing ends as one that has failed, and what waits for that begins.
func TestFailed(t *testing.T) {
	b := newBench(t, 1)
	b.Set("-max-deaths", "2")
	id := b.elastic("broken", "echo the script is broken; exit 3", "--comment=apportion max=2")
	after := b.sbatch("after", "exit 0", "--dependency=afternotok:"+numberOf(id), "--output=/dev/null")
	b.becomes(id, "FAILED")
	b.becomes(after, "COMPLETED")
	text, err := os.ReadFile(filepath.Join(b.Dir, "slurm-"+numberOf(id)+".out"))
	if err != nil || !strings.Contains(string(text), "the script is broken") || !strings.Contains(string(text), "apportion failed ") {
		t.Errorf("%v: its output does not say why: %s", err, text)
	}
	t.Log(b.job(id).Comment)
}

// What Slurm says of a job that no run would have refuses it, whether its user has written that by sbatch or later, and the page says why.
func TestRefusals(t *testing.T) {
	b := newBench(t, 1)
	comment := "--comment=apportion max=1"
	want := map[string]string{
		b.sbatch("held", "exit 0", "--hold", comment):                    "apportion-slurm submit",
		b.sbatch("array", "exit 0", "--hold", "--array=1-3", comment):    "array_job_id",
		b.sbatch("free", "exec sleep 60", comment):                       "apportion-slurm submit",
		b.sbatch("alone", "exit 0", "--hold", "--exclusive", comment):    "shared",
		b.sbatch("input", "exit 0", "--hold", "--input=/tmp/i", comment): "standard_input",
	}
	for update, field := range map[string]string{"Nice=10": "nice", "ReqNodeList=n1": "required_nodes", "NumTasks=2": "2 tasks", "Contiguous=1": "contiguous", "Dependency=afterok:1": "dependency"} {
		id := b.submit("changed", 1, 100000, 1)
		must.Have(command(context.Background(), "", "scontrol", "update", "JobId="+numberOf(id), update))(t)
		want[id] = field
	}
	processes.Eventually(b.Bench, "all are refused", 60*time.Second, func() bool {
		r := b.Report()
		return r != nil && len(r.Rejected) == len(want)
	})
	for id, why := range b.Report().Rejected {
		if want[id] == "" || !strings.Contains(why, want[id]) {
			t.Errorf("%s is refused: %s; want %s", id, why, want[id])
		}
	}
}
