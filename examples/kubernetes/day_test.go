// This file plays a day of a real trace on a real Kubernetes control plane: by stock Jobs, by gangs, and with the controller.

package kubernetes

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/day"
	"github.com/apportion/apportion/internal/must"
)

// Controlled implements managertest.Player.
func (b *bench) Controlled() *managertest.Bench { return b.Bench }

// Elastic implements managertest.Player.
func (b *bench) Elastic(j *day.Job, argv []string) string {
	job := b.job(j.Name, int(j.Max), 0, nil)
	c := &job.Spec.Template.Spec.Containers[0]
	c.Command, c.Args = argv[:1], argv[1:]
	b.submit(job)
	return snapshot.ID(inNamespace, j.Name)
}

// fieldOf is a variable that the downward API fills in.
func fieldOf(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

// Fixed implements managertest.Player: a stock Indexed Job. Kubernetes' scheduler starts the pods that have room, whatever
// becomes of the others; a gang is suspended until there is room for all of it.
func (b *bench) Fixed(policy string, j *day.Job, argv []string, env map[string]string) string {
	job := b.job(j.Name, int(j.Fixed), 0, nil)
	completions, indexed, backoff, waits := int32(j.Fixed), batchv1.IndexedCompletion, int32(1000), policy == managertest.Gang
	job.Spec.ManagedBy, job.Spec.Completions, job.Spec.CompletionMode = nil, &completions, &indexed
	job.Spec.BackoffLimit, job.Spec.Suspend = &backoff, &waits
	c := &job.Spec.Template.Spec.Containers[0]
	c.Command, c.Args = argv[:1], argv[1:]
	c.Env = []corev1.EnvVar{fieldOf(command.EnvRank, "metadata.annotations['"+batchv1.JobCompletionIndexAnnotation+"']"),
		fieldOf(command.EnvServer, "spec.nodeName")}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: env[name]})
	}
	b.submit(job)
	return snapshot.ID(inNamespace, j.Name)
}

// Left implements managertest.Player.
func (b *bench) Left() int {
	jobs := b.jobs()
	if jobs == nil {
		return -1
	}
	return len(slices.DeleteFunc(jobs, func(j *batchv1.Job) bool { return snapshot.IsFinished(j) }))
}

// jobs are all Jobs in the order of their submission; nil: nobody answers.
func (b *bench) jobs() []*batchv1.Job {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	list, err := b.cluster.Client.BatchV1().Jobs(inNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	jobs := []*batchv1.Job{}
	for i := range list.Items {
		jobs = append(jobs, &list.Items[i])
	}
	slices.SortFunc(jobs, func(x, y *batchv1.Job) int {
		return cmp.Or(x.CreationTimestamp.Compare(y.CreationTimestamp.Time), cmp.Compare(x.Name, y.Name))
	})
	return jobs
}

// admitGangs lets suspended Jobs begin until the test ends: each, in the order of their submission, for which all containers
// have room, so that one that is too large yet holds up nobody.
func (b *bench) admitGangs(slots int64) {
	ctx, stop := context.WithCancel(context.Background())
	var under sync.WaitGroup
	under.Go(func() {
		for ctx.Err() == nil {
			for _, j := range gangs(b.jobs(), slots) {
				_, err := b.cluster.Client.BatchV1().Jobs(j.Namespace).Patch(ctx, j.Name, types.MergePatchType, []byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{})
				if err != nil && ctx.Err() == nil {
					b.Logf("a gang is let in: %v", err)
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	b.Cleanup(func() { stop(); under.Wait() })
}

// gangs are the suspended Jobs that have room as a whole, beside those that run.
func gangs(jobs []*batchv1.Job, slots int64) []*batchv1.Job {
	free := slots
	for _, j := range jobs {
		if !*j.Spec.Suspend && !snapshot.IsFinished(j) {
			free -= int64(*j.Spec.Parallelism)
		}
	}
	var list []*batchv1.Job
	for _, j := range jobs {
		if n := int64(*j.Spec.Parallelism); *j.Spec.Suspend && n <= free {
			free -= n
			list = append(list, j)
		}
	}
	return list
}

// A gang is let in when all of it has room, and one that is too large does not hold up the next.
func TestGangs(t *testing.T) {
	job := func(name string, n int32, suspended bool, over bool) *batchv1.Job {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{Parallelism: &n, Suspend: &suspended}}
		if over {
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		}
		return j
	}
	jobs := []*batchv1.Job{job("over", 8, false, true), job("runs", 4, false, false), job("large", 5, true, false), job("a", 3, true, false), job("b", 2, true, false), job("c", 1, true, false)}
	var names []string
	for _, j := range gangs(jobs, 8) {
		names = append(names, j.Name)
	}
	must.Same(t, names, []string{"a", "c"}, "are let in")
}

// daySlots is how many containers the cluster holds on which days and hours are played.
const daySlots = 24

var daily = managertest.Daily{Manager: "kubernetes", Slots: daySlots, Policies: []string{managertest.Fixed, managertest.Gang, managertest.Elastic},
	// A short day is stock Jobs for a minute, and nothing of ours: TestGangs has what is.
	Short: []string{},
	Bench: func(t *testing.T) managertest.Player {
		b := newBench(t, nodes...)
		if !b.cluster.StartJobs() || !b.cluster.StartScheduler() {
			t.Skip("this control plane has no Job controller and no scheduler")
		}
		b.admitGangs(daySlots)
		return b
	}}

func TestDay(t *testing.T) { daily.Day(t) }

func TestHours(t *testing.T) { daily.Hours(t) }
