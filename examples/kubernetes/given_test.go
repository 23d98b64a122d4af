// This file plays jobs that come to nothing, on a real Kubernetes control plane.

package kubernetes

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/examples/managertest/processes"
)

// A Job whose runs die without a step further fails as any other does, when its backoffLimit is exceeded; one whose trainer dies of the
// signal that asks it to save fails too, and is told that.
func TestGivenUp(t *testing.T) {
	b := newBench(t, "n1")
	b.cluster.StartJobs()
	bad, deaf := b.job("bad", 2, 0, nil), b.job("deaf", 2, 0, map[string]string{snapshot.Prefix + "save-signal": "USR1"})
	limit := int32(1)
	bad.Spec.BackoffLimit = &limit
	bad.Spec.Template.Spec.Containers[0].Command, bad.Spec.Template.Spec.Containers[0].Args = []string{"false"}, nil
	deaf.Spec.Template.Spec.Containers[0].Command, deaf.Spec.Template.Spec.Containers[0].Args = []string{"sleep"}, []string{"1000"}
	b.submit(bad)
	b.submit(deaf)
	for name, why := range map[string]string{"bad": "2 runs have died without a step further", "deaf": "the signal that asks it to save has ended it 2 times"} {
		processes.Eventually(b.Bench, name+" has failed", 90*time.Second, func() bool {
			b.Report()
			return strings.Contains(condition(b.get(name), batchv1.JobFailed), why)
		})
		for _, c := range b.get(name).Status.Conditions {
			if c.Type == batchv1.JobFailed && (c.Status != corev1.ConditionTrue || c.Reason != batchv1.JobReasonBackoffLimitExceeded) {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}
