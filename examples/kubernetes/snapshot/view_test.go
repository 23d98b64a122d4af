// This file tests what is read of nodes, pods, Jobs and namespaces, without a cluster.

package snapshot

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// now is the moment of the tests.
var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// list is a list of quantities.
func list(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

// node is a node that is ready.
func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
		Allocatable: list("cpu", "8", "memory", "4000Mi", "nvidia.com/gpu", "4", "pods", "20"),
		Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
}

func ptr[T any](v T) *T { return &v }

// job is an elastic Job.
func job(name string) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID(name), ResourceVersion: "1"}, Spec: batchv1.JobSpec{
		ManagedBy: ptr(Manager), Parallelism: ptr(int32(8)), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "train", Command: []string{"train"}, Resources: corev1.ResourceRequirements{
				Requests: list("cpu", "1500m", "memory", "1"), Limits: list("cpu", "2", "nvidia.com/gpu", "1")}}}}}}}
}

// pod is a pod on a node, of a Job or of nobody.
func pod(name, node, owner string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Labels: map[string]string{Attempt: "1"}},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: list("cpu", "1", "nvidia.com/gpu", "1")}}}}}
	if owner != "" {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: owner, UID: types.UID(owner), Controller: ptr(true)}}
	}
	return p
}

// view reads objects.
func view(o Objects) *controller.View {
	o.Now = now
	return NewReader(Kinds()).View(&o)
}

func TestJob(t *testing.T) {
	j := job("lr")
	j.Annotations = map[string]string{Prefix + "min": "2", Weight: "1.5", Prefix + "step": "2", Prefix + "save-signal": "SIGUSR1", Prefix + "preemptible": "true",
		Prefix + "adjust-cost": "3", Note: "{}", "other": "x"}
	j.Spec.Template.Spec.PriorityClassName = "high"
	v := view(Objects{Nodes: []*corev1.Node{node("n1")}, Jobs: []*batchv1.Job{j}, Classes: []*schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 70}}})
	must.Equal(t, len(v.Jobs), 1, v)
	want := alloc.Application{ID: "team/lr", Queue: "team", Weight: 1.5, Form: alloc.Form{Demand: apportion.Resources{1500, 1, 1, 1}, Min: 2, Max: 8, Step: 2}, Priority: 70,
		Preemptible: true, AdjustCost: ptr(int64(3))}
	must.Equal(t, cmp.Diff(want, v.Jobs[0].Application), "")
	if text := string(v.Jobs[0].Spec); !strings.Contains(text, `"save_signal":"USR1"`) || !strings.Contains(text, `"uid":"lr"`) {
		t.Error(text)
	}
	p := alloc.Problem{Kinds: Kinds(), Servers: []apportion.Server{v.Servers[0].Server}, Applications: []alloc.Application{v.Jobs[0].Application}, Queues: v.Queues}
	must.Do(t, p.Validate())
}

// Pods for which a scheduler has found no node wait, the first that it would try in front; elastic ones, those that it has not tried,
// and those whose place cannot be said do not.
func TestWaiting(t *testing.T) {
	pending := func(name string, change func(*corev1.Pod)) *corev1.Pod {
		p := pod(name, "", "")
		p.Labels = nil
		p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}}
		change(p)
		return p
	}
	tainted := node("n1")
	tainted.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
	v := view(Objects{Nodes: []*corev1.Node{tainted}, Jobs: []*batchv1.Job{job("lr")}, Pods: []*corev1.Pod{
		pending("late", func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(now) }),
		pending("early", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }),
		pending("urgent", func(p *corev1.Pod) { p.Spec.Priority, p.CreationTimestamp = ptr(int32(5)), metav1.NewTime(now) }),
		pending("gone", func(p *corev1.Pod) { p.DeletionTimestamp = ptr(metav1.NewTime(now)) }),
		pending("untried", func(p *corev1.Pod) { p.Status.Conditions = nil }),
		pending("gated", func(p *corev1.Pod) { p.Status.Conditions[0].Reason = corev1.PodReasonSchedulingGated }),
		pending("odd", func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "x", Operator: "Near"}}}}}}}
		}),
		pending("ours", func(p *corev1.Pod) {
			p.Labels, p.OwnerReferences = map[string]string{Attempt: "1"}, pod("x", "", "lr").OwnerReferences
		}),
	}})
	repelled := apportion.Requirement{Key: taintLabel(&tainted.Spec.Taints[0]), Op: apportion.NotExists}
	demand := apportion.Resources{1000, 0, 1, 1}
	want := []controller.Waiting{{ID: "team/urgent", Demand: demand, Requires: []apportion.Requirement{repelled}},
		{ID: "team/early", Demand: demand, Requires: []apportion.Requirement{{Key: "disk", Op: apportion.In, Values: []string{"ssd"}}, repelled}},
		{ID: "team/late", Demand: demand, Requires: []apportion.Requirement{repelled}}}
	must.Equal(t, cmp.Diff(want, v.Waiting), "")
}

// What cannot be kept is said, and nothing is decided on it.
func TestJobsThatCannotBeRead(t *testing.T) {
	for want, change := range map[string]func(*batchv1.Job, *corev1.PodSpec){
		"completions":           func(j *batchv1.Job, _ *corev1.PodSpec) { j.Spec.Completions = ptr(int32(3)) },
		"activeDeadlineSeconds": func(j *batchv1.Job, _ *corev1.PodSpec) { j.Spec.ActiveDeadlineSeconds = ptr(int64(3)) },
		"podFailurePolicy":      func(j *batchv1.Job, _ *corev1.PodSpec) { j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{} },
		"backoffLimitPerIndex":  func(j *batchv1.Job, _ *corev1.PodSpec) { j.Spec.BackoffLimitPerIndex = ptr(int32(1)) },
		"no command":            func(_ *batchv1.Job, s *corev1.PodSpec) { s.Containers[0].Command = nil },
		"bound to node":         func(_ *batchv1.Job, s *corev1.PodSpec) { s.NodeName = "n1" },
		"scheduling gates":      func(_ *batchv1.Job, s *corev1.PodSpec) { s.SchedulingGates = []corev1.PodSchedulingGate{{}} },
		"resource claims":       func(_ *batchv1.Job, s *corev1.PodSpec) { s.ResourceClaims = []corev1.PodResourceClaim{{}} },
		"pod affinity": func(_ *batchv1.Job, s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{}}}}
		},
		"per-server": func(_ *batchv1.Job, s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{}}}}
		},
		"topology spread": func(_ *batchv1.Job, s *corev1.PodSpec) {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{WhenUnsatisfiable: corev1.ScheduleAnyway}}
		},
		"preferences": func(_ *batchv1.Job, s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{}}}}
		},
		"successPolicy":    func(j *batchv1.Job, _ *corev1.PodSpec) { j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{} },
		"OnFailure":        func(_ *batchv1.Job, s *corev1.PodSpec) { s.RestartPolicy = corev1.RestartPolicyOnFailure },
		`scheduler "mine"`: func(_ *batchv1.Job, s *corev1.PodSpec) { s.SchedulerName = "mine" },
		"port 80": func(_ *batchv1.Job, s *corev1.PodSpec) {
			s.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
		},
		"runAsNonRoot without runAsUser": func(_ *batchv1.Job, s *corev1.PodSpec) {
			s.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: ptr(true)}
		},
		"runAsUser -1": func(_ *batchv1.Job, s *corev1.PodSpec) {
			s.SecurityContext = &corev1.PodSecurityContext{RunAsUser: ptr(int64(-1))}
		},
		`"Near"`:      func(_ *batchv1.Job, s *corev1.PodSpec) { s.Affinity = requires(expression("zone", "Near", "a")) },
		"not known":   func(j *batchv1.Job, _ *corev1.PodSpec) { j.Annotations[Prefix+"maximum"] = "3" },
		"min":         func(j *batchv1.Job, _ *corev1.PodSpec) { j.Annotations[Prefix+"min"] = "few" },
		"weight":      func(j *batchv1.Job, _ *corev1.PodSpec) { j.Annotations[Weight] = "heavy" },
		"adjust-cost": func(j *batchv1.Job, _ *corev1.PodSpec) { j.Annotations[Prefix+"adjust-cost"] = "-" },
		"preemptible": func(j *batchv1.Job, _ *corev1.PodSpec) { j.Annotations[Prefix+"preemptible"] = "perhaps" },
		"USR1":        func(j *batchv1.Job, _ *corev1.PodSpec) { j.Annotations[Prefix+"save-signal"] = "KILL" },
	} {
		j := job("lr")
		j.Annotations = map[string]string{}
		change(j, &j.Spec.Template.Spec)
		v := view(Objects{Nodes: []*corev1.Node{node("n1")}, Jobs: []*batchv1.Job{j}})
		if len(v.Jobs) != 0 || !strings.Contains(v.Rejected["team/lr"], want) {
			t.Errorf("%s: %+v, %v", want, v.Jobs, v.Rejected)
		}
	}
}

// Jobs of others are left alone, and those that are over or being deleted are withdrawn.
func TestWhichJobs(t *testing.T) {
	stock, done, failed, deleted := job("stock"), job("done"), job("failed"), job("deleted")
	stock.Spec.ManagedBy = nil
	done.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	failed.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
	deleted.DeletionTimestamp = ptr(metav1.NewTime(now))
	first, second := job("z"), job("a")
	first.CreationTimestamp, second.CreationTimestamp = metav1.NewTime(now), metav1.NewTime(now.Add(time.Second))
	v := view(Objects{Jobs: []*batchv1.Job{stock, done, failed, deleted, second, first}})
	must.Equal(t, cmp.Diff([]string{"team/deleted", "team/done", "team/failed"}, v.Withdrawn), "")
	if len(v.Jobs) != 2 || v.Jobs[0].Application.ID != "team/z" {
		t.Errorf("%+v", v.Jobs)
	}
}

// A node has what the pods of others leave; the pods of elastic Jobs are the controller's to count, unless they linger.
func TestServer(t *testing.T) {
	ended, lingering, leaving, stranger := pod("ended", "n1", ""), pod("lingering", "n1", "lr"), pod("leaving", "n1", "lr"), pod("stranger", "n1", "web")
	ended.Status.Phase = corev1.PodSucceeded
	lingering.DeletionTimestamp = ptr(metav1.NewTime(now.Add(-time.Minute)))
	leaving.DeletionTimestamp = ptr(metav1.NewTime(now.Add(-time.Second)))
	v := view(Objects{Nodes: []*corev1.Node{node("n1")}, Jobs: []*batchv1.Job{job("lr")},
		Pods: []*corev1.Pod{pod("ours", "n1", "lr"), ended, lingering, leaving, stranger, pod("bare", "n1", ""), pod("pending", "", "")}})
	if got := v.Servers[0].Capacity; !got.Equal(apportion.Resources{5000, 4000, 1, 17}) {
		t.Errorf("%v", got)
	}
	full := node("n1")
	full.Status.Allocatable = list("cpu", "500m")
	if v := view(Objects{Nodes: []*corev1.Node{full}, Pods: []*corev1.Pod{pod("bare", "n1", "")}}); !v.Servers[0].Capacity.Equal(apportion.Resources{0, 0, 0, 0}) {
		t.Errorf("%v", v.Servers[0].Capacity)
	}
}

func TestServerStates(t *testing.T) {
	type state struct {
		Cordoned, Draining bool
		Down               string
		Deadline           time.Time
	}
	for name, c := range map[string]struct {
		change func(*corev1.Node)
		want   state
	}{
		"ready":    {func(*corev1.Node) {}, state{}},
		"cordoned": {func(n *corev1.Node) { n.Spec.Unschedulable = true }, state{Cordoned: true}},
		"pressure": {func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "node.kubernetes.io/disk-pressure", Effect: corev1.TaintEffectNoSchedule}}
		}, state{Cordoned: true}},
		"silent": {func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }, state{Down: "its condition Ready is Unknown"}},
		"new":    {func(n *corev1.Node) { n.Status.Conditions = nil }, state{Down: "it has no condition Ready"}},
		"dead":   {func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: outOfService}} }, state{Cordoned: true, Down: "it is out of service"}},
		"to be gone": {func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: toBeDeleted, Effect: corev1.TaintEffectNoSchedule}}
		}, state{Draining: true}},
		"deleted":      {func(n *corev1.Node) { n.DeletionTimestamp = ptr(metav1.NewTime(now)) }, state{Draining: true}},
		"drained":      {func(n *corev1.Node) { n.Annotations = map[string]string{Drain: "true"} }, state{Draining: true}},
		"not drained":  {func(n *corev1.Node) { n.Annotations = map[string]string{Drain: "false"} }, state{}},
		"drained soon": {func(n *corev1.Node) { n.Annotations = map[string]string{Drain: now.Format(time.RFC3339)} }, state{Draining: true, Deadline: now}},
	} {
		n := node("n1")
		c.change(n)
		s := view(Objects{Nodes: []*corev1.Node{n}}).Servers[0]
		must.Equal(t, (state{s.Cordoned, s.Draining, s.Down, s.Deadline}), c.want, name)
	}
}

// expression is an expression on a label.
func expression(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
}

// requires is an affinity to nodes of which one of these expressions holds.
func requires(list ...corev1.NodeSelectorRequirement) *corev1.Affinity {
	s := &corev1.NodeSelector{}
	for _, e := range list {
		s.NodeSelectorTerms = append(s.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{e}})
	}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: s}}
}

// Which nodes suit a pod: selectors, affinity, taints.
func TestRequirements(t *testing.T) {
	west, east, tainted := node("west"), node("east"), node("tainted")
	west.Labels, east.Labels = map[string]string{"zone": "west", "gen": "3"}, map[string]string{"zone": "east", "gen": "10"}
	tainted.Spec.Taints = []corev1.Taint{{Key: "gpu", Value: "a100", Effect: corev1.TaintEffectNoExecute}, {Key: "soft", Effect: corev1.TaintEffectPreferNoSchedule}}
	for name, c := range map[string]struct {
		change func(*corev1.PodSpec)
		want   string
	}{
		"anything":      {func(*corev1.PodSpec) {}, "east west"},
		"selector":      {func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"zone": "west"} }, "west"},
		"in":            {func(s *corev1.PodSpec) { s.Affinity = requires(expression("zone", "In", "east", "north")) }, "east"},
		"not in":        {func(s *corev1.PodSpec) { s.Affinity = requires(expression("zone", "NotIn", "east")) }, "west"},
		"exists":        {func(s *corev1.PodSpec) { s.Affinity = requires(expression("zone", "Exists")) }, "east west"},
		"exists not":    {func(s *corev1.PodSpec) { s.Affinity = requires(expression("zone", "DoesNotExist")) }, ""},
		"greater":       {func(s *corev1.PodSpec) { s.Affinity = requires(expression("gen", "Gt", "9")) }, "east"},
		"greater equal": {func(s *corev1.PodSpec) { s.Affinity = requires(expression("gen", "Gt", "10")) }, ""},
		"less":          {func(s *corev1.PodSpec) { s.Affinity = requires(expression("gen", "Lt", "10")) }, "west"},
		"one of two": {func(s *corev1.PodSpec) {
			s.Affinity = requires(expression("zone", "In", "west"), expression("gen", "Gt", "9"))
		}, "east west"},
		"none of two": {func(s *corev1.PodSpec) {
			s.Affinity = requires(expression("zone", "In", "north"), expression("gen", "Gt", "10"))
		}, ""},
		"nothing said": {func(s *corev1.PodSpec) {
			s.Affinity = requires()
			s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms = []corev1.NodeSelectorTerm{{}}
		}, ""},
		"by name": {func(s *corev1.PodSpec) {
			s.Affinity = requires()
			s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms = []corev1.NodeSelectorTerm{{
				MatchFields: []corev1.NodeSelectorRequirement{expression("metadata.name", "In", "west")}}}
		}, "west"},
		"tolerated": {func(s *corev1.PodSpec) {
			s.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}}
		}, "east tainted west"},
		"tolerated for a while": {func(s *corev1.PodSpec) {
			s.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists, TolerationSeconds: ptr(int64(60))}}
		}, "east west"},
	} {
		j := job("lr")
		c.change(&j.Spec.Template.Spec)
		v := view(Objects{Nodes: []*corev1.Node{west, east, tainted}, Jobs: []*batchv1.Job{j}})
		var suits []string
		for i := range v.Servers {
			if len(v.Jobs) == 1 && v.Servers[i].Satisfies(v.Jobs[0].Application.Requires) {
				suits = append(suits, v.Servers[i].ID)
			}
		}
		if got := strings.Join(suits, " "); len(v.Jobs) != 1 || got != c.want {
			t.Errorf("%s: suits %q, want %q: %v", name, got, c.want, v.Rejected)
		}
	}
	// A Job that is suspended suits nowhere.
	j := job("lr")
	j.Spec.Suspend = ptr(true)
	if v := view(Objects{Nodes: []*corev1.Node{west}, Jobs: []*batchv1.Job{j}}); v.Servers[0].Satisfies(v.Jobs[0].Application.Requires) {
		t.Errorf("%v", v.Jobs[0].Application.Requires)
	}
}

// The demand of a pod with containers before and beside its own.
func TestDemand(t *testing.T) {
	always := ptr(corev1.ContainerRestartPolicyAlways)
	with := func(r *corev1.ContainerRestartPolicy, pairs ...string) corev1.Container {
		return corev1.Container{RestartPolicy: r, Resources: corev1.ResourceRequirements{Requests: list(pairs...)}}
	}
	for name, c := range map[string]struct {
		spec corev1.PodSpec
		want apportion.Resources
	}{
		"two containers": {corev1.PodSpec{Containers: []corev1.Container{with(nil, "cpu", "1"), with(nil, "cpu", "250m", "memory", "2Mi")}}, apportion.Resources{1250, 2, 0, 1}},
		"rounded up":     {corev1.PodSpec{Containers: []corev1.Container{with(nil, "cpu", "100u", "memory", "1048577")}}, apportion.Resources{1, 2, 0, 1}},
		"one before":     {corev1.PodSpec{InitContainers: []corev1.Container{with(nil, "cpu", "3")}, Containers: []corev1.Container{with(nil, "cpu", "1")}}, apportion.Resources{3000, 0, 0, 1}},
		"one beside":     {corev1.PodSpec{InitContainers: []corev1.Container{with(always, "cpu", "3")}, Containers: []corev1.Container{with(nil, "cpu", "1")}}, apportion.Resources{4000, 0, 0, 1}},
		"before, with one beside": {corev1.PodSpec{InitContainers: []corev1.Container{with(always, "cpu", "1"), with(nil, "cpu", "3")},
			Containers: []corev1.Container{with(nil, "cpu", "1")}}, apportion.Resources{4000, 0, 0, 1}},
		"overhead": {corev1.PodSpec{Overhead: list("cpu", "100m"), Containers: []corev1.Container{with(nil, "cpu", "1")}}, apportion.Resources{1100, 0, 0, 1}},
		"of the pod": {corev1.PodSpec{Resources: &corev1.ResourceRequirements{Requests: list("cpu", "2")}, Containers: []corev1.Container{with(nil, "cpu", "1")}},
			apportion.Resources{2000, 0, 0, 1}},
	} {
		if got := Demand(Kinds(), &c.spec); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Namespaces are queues, as heavy as they say, below what quotas leave.
func TestQueues(t *testing.T) {
	other := job("other")
	other.Namespace = "else"
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "team"}, Spec: corev1.ResourceQuotaSpec{
		Hard: list("requests.nvidia.com/gpu", "6", "cpu", "10", "requests.cpu", "9", "limits.cpu", "1", "count/pods", "5")}}
	scoped := quota.DeepCopy()
	scoped.Spec.Hard, scoped.Spec.Scopes = list("cpu", "1"), []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}
	heavy, none := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "else", Annotations: map[string]string{Weight: "2.5"}}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team", Annotations: map[string]string{Weight: "-1"}}}
	v := view(Objects{Nodes: []*corev1.Node{node("n1")}, Jobs: []*batchv1.Job{job("lr"), other}, Quotas: []*corev1.ResourceQuota{quota, scoped},
		Namespaces: []*corev1.Namespace{heavy, none, {ObjectMeta: metav1.ObjectMeta{Name: "idle"}}},
		Pods:       []*corev1.Pod{pod("bare", "n1", ""), pod("ours", "n1", "lr")}})
	want := []drf.Queue{{ID: "else", Weight: 2.5}, {ID: "team", Weight: 1, Ceiling: drf.Ceiling{8000, drf.NoLimit, 5, 4}}}
	must.Equal(t, cmp.Diff(want, v.Queues), "")
}

// What is read again and again is the same, and follows what has changed.
func TestReader(t *testing.T) {
	r, j := NewReader(Kinds()), job("lr")
	o := &Objects{Nodes: []*corev1.Node{node("n1")}, Jobs: []*batchv1.Job{j}, Now: now}
	first := r.View(o)
	must.Equal(t, cmp.Diff(first, r.View(o)), "")
	next := j.DeepCopy()
	next.ResourceVersion, next.Annotations = "2", map[string]string{Prefix + "save-signal": "HUP"}
	o.Jobs = []*batchv1.Job{next}
	if text := string(r.View(o).Jobs[0].Spec); !strings.Contains(text, "HUP") {
		t.Error(text)
	}
	o.Jobs = nil
	if r.View(o); len(r.declared) != 0 {
		t.Errorf("%d Jobs that are gone are kept", len(r.declared))
	}
	if namespace, name := Split(ID("team", "lr")); namespace != "team" || name != "lr" {
		t.Errorf("%s, %s", namespace, name)
	}
}

// A pod runs as its container says, then as itself says, then as is said of all; its files have its group, or its user's own.
func TestUserOf(t *testing.T) {
	type context struct{ uid, gid int64 }
	for _, c := range []struct {
		pod, own, said context
		fsGroup        int64
		want           string
	}{
		{want: ""},
		{pod: context{1001, 0}, want: "1001:1001"},
		{pod: context{1001, 100}, own: context{1002, 0}, want: "1002:100"},
		{pod: context{1001, 0}, fsGroup: 7, want: "1001:7"},
		{pod: context{1001, 0}, said: context{5, 5}, want: "1001:1001"},
		{said: context{5, 6}, want: "5:6"},
	} {
		numbers := func(of context) (uid, gid *int64) {
			if of.uid != 0 {
				uid = &of.uid
			}
			if of.gid != 0 {
				gid = &of.gid
			}
			return uid, gid
		}
		spec := &corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{}, Containers: []corev1.Container{{SecurityContext: &corev1.SecurityContext{}}}}
		spec.SecurityContext.RunAsUser, spec.SecurityContext.RunAsGroup = numbers(c.pod)
		spec.Containers[0].SecurityContext.RunAsUser, spec.Containers[0].SecurityContext.RunAsGroup = numbers(c.own)
		if c.fsGroup != 0 {
			spec.SecurityContext.FSGroup = &c.fsGroup
		}
		r := NewReader(Kinds())
		if c.said.uid != 0 {
			r.User = &command.User{UID: uint32(c.said.uid), GID: uint32(c.said.gid)}
		}
		user, err := r.userOf(spec)
		got := ""
		if user != nil {
			got = user.String()
		}
		if err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}
