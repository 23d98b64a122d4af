// This file tests that others' pods which wait do not take the room that a resize frees.

package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/examples/kubernetes/kubetest"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// plain is a stock Job of pods that take CPUs each and run until they are deleted.
func (b *bench) plain(name string, pods int, cpus string) {
	j := b.job(name, pods, 0, nil)
	completions, backoff := int32(pods), int32(1000)
	j.Spec.ManagedBy, j.Spec.Completions, j.Spec.BackoffLimit = nil, &completions, &backoff
	c := &j.Spec.Template.Spec.Containers[0]
	c.Command, c.Args = []string{"sleep"}, []string{"1000"}
	c.Resources = corev1.ResourceRequirements{Requests: kubetest.List("cpu", cpus)}
	none := int64(0)
	j.Spec.Template.Spec.TerminationGracePeriodSeconds = &none
	b.submit(j)
}

// bound are how many pods of a Job a scheduler has bound, and how many there are.
func (b *bench) bound(name string) (bound, all int) {
	list, err := b.cluster.Client.CoreV1().Pods(inNamespace).List(context.Background(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + name})
	if err != nil {
		return 0, 0
	}
	for i := range list.Items {
		if list.Items[i].Spec.NodeName != "" {
			bound++
		}
	}
	return bound, len(list.Items)
}

// An elastic job that has all there is makes way for pods of others, and has it back when these are gone.
func TestMakesWay(t *testing.T) {
	b := newBench(t, "n1", "n2")
	if !b.cluster.StartJobs() || !b.cluster.StartScheduler() {
		t.Skip("this control plane has no Job controller and no scheduler")
	}
	b.submit(b.job("a", 16, 1000000, nil))
	b.Holds(map[string]int{"default/a": 16})
	b.plain("others", 3, "2")
	processes.Eventually(b.Bench, "pods of others have nodes", 120*time.Second, func() bool { bound, _ := b.bound("others"); return bound == 3 })
	b.Holds(map[string]int{"default/a": 10})
	b.delete("others")
	// There is no collector of garbage here.
	must.Do(t, b.cluster.Client.CoreV1().Pods(inNamespace).DeleteCollection(t.Context(), metav1.DeleteOptions{},
		metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=others"}))
	b.Holds(map[string]int{"default/a": 16})
	b.check()
}

// Pods of others have room by kube-scheduler's own preemption where elastic pods are of the class that is shipped, also from a
// controller that makes way for none.
func TestPreempted(t *testing.T) {
	b := newBench(t, "n1", "n2")
	if !b.cluster.StartJobs() || !b.cluster.StartScheduler() {
		t.Skip("this control plane has no Job controller and no scheduler")
	}
	b.Set("-priority-class", "apportion-elastic", "-waiting-hold", "-1s")
	b.submit(b.job("a", 16, 1000000, nil))
	b.Holds(map[string]int{"default/a": 16})
	b.Saved("default/a")
	b.plain("others", 3, "2")
	processes.Eventually(b.Bench, "pods of others have nodes", 120*time.Second, func() bool { bound, _ := b.bound("others"); return bound == 3 })
	b.Holds(map[string]int{"default/a": 10})
	// Not b.check: a run that begins again before the next look is refused where its pods come after those of others.
	b.Check()
}

// Pods of others wait while elastic jobs, which have all there is and make way for none, are resized again and again: no kubelet
// refuses a pod, so that no attempt fails. What the elastic jobs leave at last the others get.
func TestRoomIsHeld(t *testing.T) {
	b := newBench(t, "n1", "n2", "n3")
	if !b.cluster.StartJobs() || !b.cluster.StartScheduler() {
		t.Skip("this control plane has no Job controller and no scheduler")
	}
	b.Set("-waiting-hold", "-1s")
	b.submit(b.job("a", 24, 1000000, nil))
	b.Holds(map[string]int{"default/a": 24})
	b.plain("others", 4, "2")
	processes.Eventually(b.Bench, "pods of others wait", 60*time.Second, func() bool { _, all := b.bound("others"); return all == 4 })
	held := map[string]int{"default/a": 24}
	for _, name := range []string{"b", "c", "d"} {
		b.submit(b.job(name, 24, 1000000, nil))
		held["default/"+name] = 0
		for id := range held {
			held[id] = 24 / len(held)
		}
		b.Holds(held)
		if refused := b.kubelets.Refused(); len(refused) > 0 {
			t.Fatalf("others have taken the room of %s: %v", name, refused)
		}
	}
	if bound, _ := b.bound("others"); bound > 0 {
		t.Errorf("%d pods of others were bound where there was no room", bound)
	}
	b.check()
	for id := range held {
		_, name := snapshot.Split(id)
		b.delete(name)
	}
	processes.Eventually(b.Bench, "others have what the elastic jobs leave", 90*time.Second, func() bool { bound, _ := b.bound("others"); return bound == 4 })
	processes.Eventually(b.Bench, "no room is held any more", 90*time.Second, func() bool {
		list, err := b.cluster.Client.CoreV1().Pods("apportion").List(context.Background(), metav1.ListOptions{LabelSelector: roomOf})
		return err == nil && len(list.Items) == 0
	})
}

// Room is held once for a run, on each node with what its pods ask for there, and for nobody where nobody waits. It is given back
// when no job is being changed, or after a while.
func TestHold(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: inNamespace, Name: "a", UID: "job"}}
	objects := []runtime.Object{job}
	for i, node := range []string{"n1", "n1", "n2"} {
		objects = append(objects, newNode(fmt.Sprint("n", i+1)), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: inNamespace, Name: fmt.Sprint("a-", i), UID: types.UID(fmt.Sprint(i)),
			Labels: map[string]string{snapshot.Attempt: "7"}, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}},
			Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: kubetest.List("cpu", "2")}}}}})
	}
	client := fake.NewClientset(objects...)
	o := must.Have(newOwner(t.Context(), client, snapshot.Kinds(), master{epoch: 1, namespace: "apportion"}))(t)
	room := func() (held []string) {
		list := must.Have(client.CoreV1().Pods("apportion").List(t.Context(), metav1.ListOptions{LabelSelector: roomOf}))(t)
		for i := range list.Items {
			held = append(held, list.Items[i].Status.NominatedNodeName+" "+list.Items[i].Spec.Containers[0].Resources.Requests.Cpu().String())
		}
		slices.Sort(held)
		return held
	}
	made := 0
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		p := action.(clienttesting.CreateAction).GetObject().(*corev1.Pod)
		made++
		p.Name, p.UID, p.CreationTimestamp = p.GenerateName+fmt.Sprint(made), types.UID(fmt.Sprint("held", made)), metav1.Now()
		return false, nil, nil
	})
	if o.Hold(t.Context(), "default/a", 7); len(room()) > 0 {
		t.Errorf("held for nobody: %v", room())
	}
	must.Have(client.CoreV1().Pods(inNamespace).Create(t.Context(),
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: inNamespace, GenerateName: "other"}}, metav1.CreateOptions{}))(t)
	processes.Eventually(t, "it is seen that a pod waits", time.Minute, o.seen.PodsWait)
	for range 2 {
		o.Hold(t.Context(), "default/a", 7)
	}
	must.Same(t, room(), []string{"n1 4", "n2 2"}, "held")
	list := func(age time.Duration) (pods []*corev1.Pod) {
		all, _ := client.CoreV1().Pods("apportion").List(t.Context(), metav1.ListOptions{})
		for i := range all.Items {
			all.Items[i].CreationTimestamp = metav1.NewTime(time.Now().Add(-age))
			pods = append(pods, &all.Items[i])
		}
		return pods
	}
	changing := &controller.Report{Jobs: []controller.JobReport{{Job: checkpoint.Job{Order: 1}}}}
	must.Do(t, o.rest(changing))
	if o.release(t.Context(), list(2*holdLeast)); len(room()) != 2 {
		t.Errorf("held while a job is changed: %v", room())
	}
	must.Do(t, o.rest(&controller.Report{}))
	if o.release(t.Context(), list(0)); len(room()) != 2 {
		t.Errorf("held before it was told of: %v", room())
	}
	if o.release(t.Context(), list(2*holdLeast)); len(room()) != 0 {
		t.Errorf("held for nobody any more: %v", room())
	}
	// What cannot be held is said once.
	client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("not today") })
	o.works["default/a"].held = 0
	o.Hold(t.Context(), "default/a", 7)
	if err := o.rest(changing); err == nil || o.rest(changing) != nil {
		t.Errorf("%v", err)
	}
	if o.release(t.Context(), list(2*holdMost)); len(room()) != 0 {
		t.Errorf("held for ever: %v", room())
	}
}
