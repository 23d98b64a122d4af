// This file tests the pieces of a view by themselves, on numbers that are written down.

package snapshot

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// CPU is counted in thousandths, memory in mebibytes, and all else as it is; what is asked for is rounded up and what there is down.
func TestAmount(t *testing.T) {
	for _, c := range []struct {
		kind, text string
		up, down   int64
	}{
		{"cpu", "2", 2000, 2000}, {"cpu", "1500m", 1500, 1500}, {"cpu", "1u", 1, 1}, {"memory", "1Mi", 1, 1}, {"memory", "1048577", 2, 1}, {"memory", "1", 1, 0},
		{"memory", "0", 0, 0}, {"memory", "16Gi", 16384, 16384}, {"ephemeral-storage", "1048575", 1, 0}, {"nvidia.com/gpu", "4", 4, 4}, {"pods", "110", 110, 110},
		{"memory", "9223372036854775807", math.MaxInt64 / mebi, math.MaxInt64 / mebi},
	} {
		q := resource.MustParse(c.text)
		if up, down := amount(c.kind, q, true), amount(c.kind, q, false); up != c.up || down != c.down {
			t.Errorf("%s of %s: %d and %d, want %d and %d", c.text, c.kind, up, down, c.up, c.down)
		}
	}
	if got := Capacity(Kinds(), list("cpu", "-1", "memory", "3Mi", "pods", "7")); !got.Equal(apportion.Resources{0, 3, 0, 7}) {
		t.Errorf("%v", got)
	}
	a := apportion.Resources{5, 1, 3}
	if got := less(a, apportion.Resources{2, 4, 3}); !got.Equal(apportion.Resources{3, 0, 0}) || !a.Equal(apportion.Resources{5, 1, 3}) {
		t.Errorf("%v, of %v", got, a)
	}
	if got := less(a, nil); !got.Equal(a) {
		t.Errorf("%v", got)
	}
}

// A weight that no queue may have, or that is none, is 1; those of queues are read by name.
func TestWeights(t *testing.T) {
	for text, want := range map[string]float64{"2": 2, "0.5": 0.5, "": 1, "x": 1, "-1": 1, "0": 1, "NaN": 1, "Inf": 1, "1e300": 1} {
		must.Equal(t, weight(text), want, text)
	}
	for text, want := range map[string]map[string]float64{
		"a=2":               {"a": 2},
		" a = 2 ,b=0.5, c ": {"a": 2, "b": 0.5, "c": 1},
		"":                  {"": 1},
		"a=2=3,a=4":         {"a": 4},
	} {
		must.Equal(t, cmp.Diff(want, weightsOf(text)), "", text)
	}
}

// A quota lowers a ceiling to what others leave of it, the lowest of several counts, and never below nothing.
func TestLimit(t *testing.T) {
	r := NewReader(apportion.Kinds{"cpu", "nvidia.com/gpu"})
	quota := func(pairs ...string) *corev1.ResourceQuota {
		return &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: list(pairs...)}}
	}
	const none = drf.NoLimit
	for name, c := range map[string]struct {
		quotas []*corev1.ResourceQuota
		used   apportion.Resources
		want   drf.Ceiling
	}{
		"none":                {nil, nil, nil},
		"of others":           {[]*corev1.ResourceQuota{quota("memory", "1Gi", "limits.cpu", "1")}, nil, nil},
		"one":                 {[]*corev1.ResourceQuota{quota("cpu", "3")}, nil, drf.Ceiling{3000, none}},
		"of requests":         {[]*corev1.ResourceQuota{quota("requests.nvidia.com/gpu", "5")}, apportion.Resources{9, 2}, drf.Ceiling{none, 3}},
		"by count":            {[]*corev1.ResourceQuota{quota("count/nvidia.com/gpu", "5")}, nil, drf.Ceiling{none, 5}},
		"both":                {[]*corev1.ResourceQuota{quota("cpu", "3", "requests.cpu", "2")}, nil, drf.Ceiling{2000, none}},
		"two":                 {[]*corev1.ResourceQuota{quota("cpu", "3"), quota("cpu", "4", "nvidia.com/gpu", "1")}, nil, drf.Ceiling{3000, 1}},
		"used up":             {[]*corev1.ResourceQuota{quota("cpu", "3")}, apportion.Resources{3001, 0}, drf.Ceiling{0, none}},
		"nothing at all":      {[]*corev1.ResourceQuota{quota("cpu", "0")}, nil, drf.Ceiling{0, none}},
		"used by many others": {[]*corev1.ResourceQuota{quota("cpu", "3")}, apportion.Resources{2999, 7}, drf.Ceiling{1, none}},
	} {
		var q drf.Queue
		for _, one := range c.quotas {
			r.limit(&q, one, c.used)
		}
		must.Equal(t, cmp.Diff(c.want, q.Ceiling), "", name)
	}
	for _, scoped := range []*corev1.ResourceQuota{quota("cpu", "1"), quota("cpu", "1")} {
		var q drf.Queue
		if scoped.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating}; q.Ceiling == nil {
			r.limit(&q, scoped, nil)
		}
		scoped.Spec.Scopes, scoped.Spec.ScopeSelector = nil, &corev1.ScopeSelector{}
		if r.limit(&q, scoped, nil); q.Ceiling != nil {
			t.Errorf("a quota for some pods: %v", q.Ceiling)
		}
	}
}

// Jobs without a queue are in one beside those that name one, in namespaces where somebody does.
func TestSplit(t *testing.T) {
	var jobs []controller.Job
	for _, queue := range []string{"ml", "web", "ml/vision", "ml", "ml/vision", "ml/default", "ops/x"} {
		jobs = append(jobs, controller.Job{Application: alloc.Application{Queue: queue}})
	}
	below := split(jobs)
	must.Equal(t, cmp.Diff(map[string][]string{"ml": {"vision", "default"}, "web": nil, "ops": {"x"}}, below), "")
	var queues []string
	for i := range jobs {
		queues = append(queues, jobs[i].Application.Queue)
	}
	must.Equal(t, cmp.Diff([]string{"ml/default", "web", "ml/vision", "ml/default", "ml/vision", "ml/default", "ops/x"}, queues), "")
}

// An expression compares whole numbers, and holds for no label that is none.
func TestHolds(t *testing.T) {
	labels := map[string]string{"zone": "west", "gen": "9", "name": "x", "negative": "-3"}
	for name, c := range map[string]struct {
		term []corev1.NodeSelectorRequirement
		want bool
	}{
		"nothing":         {nil, false},
		"in":              {[]corev1.NodeSelectorRequirement{expression("zone", "In", "east", "west")}, true},
		"in none":         {[]corev1.NodeSelectorRequirement{expression("zone", "In")}, false},
		"both":            {[]corev1.NodeSelectorRequirement{expression("zone", "In", "west"), expression("gen", "Gt", "8")}, true},
		"one of both":     {[]corev1.NodeSelectorRequirement{expression("zone", "In", "west"), expression("gen", "Gt", "9")}, false},
		"other of both":   {[]corev1.NodeSelectorRequirement{expression("gen", "Gt", "8"), expression("zone", "In", "east")}, false},
		"not by letters":  {[]corev1.NodeSelectorRequirement{expression("gen", "Lt", "10")}, true},
		"less, equal":     {[]corev1.NodeSelectorRequirement{expression("gen", "Lt", "9")}, false},
		"negative":        {[]corev1.NodeSelectorRequirement{expression("negative", "Gt", "-4")}, true},
		"no number":       {[]corev1.NodeSelectorRequirement{expression("name", "Gt", "0")}, false},
		"no label":        {[]corev1.NodeSelectorRequirement{expression("other", "Lt", "10")}, false},
		"than no number":  {[]corev1.NodeSelectorRequirement{expression("gen", "Gt", "x")}, false},
		"than two":        {[]corev1.NodeSelectorRequirement{expression("gen", "Gt", "1", "2")}, false},
		"than nothing":    {[]corev1.NodeSelectorRequirement{expression("gen", "Lt")}, false},
		"there, and more": {[]corev1.NodeSelectorRequirement{expression("gen", "Exists"), expression("other", "DoesNotExist")}, true},
	} {
		must.Equal(t, holds(&corev1.NodeSelectorTerm{MatchExpressions: c.term}, labels), c.want, name)
		must.Equal(t, holds(&corev1.NodeSelectorTerm{MatchFields: c.term}, labels), c.want, name, "as fields")
	}
}

// Who is whose: Jobs of the controller, those that are over, pods that may run, and their Jobs.
func TestWhose(t *testing.T) {
	j := job("lr")
	if !IsElastic(j) || IsFinished(j) {
		t.Error("a Job of the controller's that runs")
	}
	other := job("other")
	if other.Spec.ManagedBy = ptr("somebody"); IsElastic(other) {
		t.Error("somebody else's")
	}
	for _, c := range []struct {
		kind   batchv1.JobConditionType
		status corev1.ConditionStatus
		want   bool
	}{{batchv1.JobComplete, "True", true}, {batchv1.JobFailed, "True", true}, {batchv1.JobFailed, "False", false}, {batchv1.JobSuspended, "True", false}, {batchv1.JobFailureTarget, "True", false}} {
		j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: "True"}, {Type: c.kind, Status: c.status}}
		must.Equal(t, IsFinished(j), c.want, c.kind, c.status)
	}
	for phase, want := range map[corev1.PodPhase]bool{"": true, corev1.PodPending: true, corev1.PodRunning: true, corev1.PodUnknown: true, corev1.PodSucceeded: false, corev1.PodFailed: false} {
		must.Equal(t, IsLive(&corev1.Pod{Status: corev1.PodStatus{Phase: phase}}), want, phase)
	}
	p := pod("a", "n1", "lr")
	must.Equal(t, Owner(p), types.UID("lr"))
	p.OwnerReferences[0].Controller = ptr(false)
	must.Equal(t, Owner(p), "", "not its controller")
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", UID: "set", Controller: ptr(true)}}
	must.Equal(t, Owner(p), "", "no Job")
	for id, want := range map[string][2]string{"ml/lr": {"ml", "lr"}, "ml": {"ml", ""}, "ml/a/b": {"ml", "a/b"}} {
		if namespace, name := Split(id); namespace != want[0] || name != want[1] {
			t.Errorf("%s: %s, %s", id, namespace, name)
		}
	}
}
