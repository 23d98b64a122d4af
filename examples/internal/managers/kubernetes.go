// This file reads objects of Kubernetes.

package managers

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// kubernetes gathers objects, of which any may come first.
type kubernetes struct {
	nodes []kubeNode
	pods  []kubePod
	jobs  []kubeJob
}

type kubeMeta struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
	// Annotations may say how few pods of a Job are enough.
	Annotations map[string]string `json:"annotations"`
	Owners      []struct {
		Kind       string `json:"kind"`
		Name       string `json:"name"`
		Controller bool   `json:"controller"`
	} `json:"ownerReferences"`
}

type kubeNode struct {
	Metadata kubeMeta `json:"metadata"`
	Spec     struct {
		Unschedulable bool        `json:"unschedulable"`
		Taints        []kubeTaint `json:"taints"`
	} `json:"spec"`
	Status struct {
		Allocatable map[string]string `json:"allocatable"`
		Conditions  []kubeCondition   `json:"conditions"`
	} `json:"status"`
}

type kubeTaint struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Effect string `json:"effect"`
}

type kubeCondition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
}

type kubePod struct {
	Metadata kubeMeta    `json:"metadata"`
	Spec     kubePodSpec `json:"spec"`
	Status   struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

type kubePodSpec struct {
	NodeName       string            `json:"nodeName"`
	Containers     []kubeContainer   `json:"containers"`
	InitContainers []kubeContainer   `json:"initContainers"`
	Overhead       map[string]string `json:"overhead"`
	NodeSelector   map[string]string `json:"nodeSelector"`
	Tolerations    []struct {
		Key      string `json:"key"`
		Operator string `json:"operator"`
		Value    string `json:"value"`
		Effect   string `json:"effect"`
	} `json:"tolerations"`
	Affinity struct {
		Node struct {
			Required *struct {
				Terms []struct {
					Expressions []struct {
						Key      string   `json:"key"`
						Operator string   `json:"operator"`
						Values   []string `json:"values"`
					} `json:"matchExpressions"`
					Fields []json.RawMessage `json:"matchFields"`
				} `json:"nodeSelectorTerms"`
			} `json:"requiredDuringSchedulingIgnoredDuringExecution"`
		} `json:"nodeAffinity"`
		Pod     requiredTerms `json:"podAffinity"`
		AntiPod requiredTerms `json:"podAntiAffinity"`
	} `json:"affinity"`
	Priority        int64             `json:"priority"`
	SchedulingGates []json.RawMessage `json:"schedulingGates"`
}

type requiredTerms struct {
	Required []json.RawMessage `json:"requiredDuringSchedulingIgnoredDuringExecution"`
}

type kubeContainer struct {
	RestartPolicy string `json:"restartPolicy"`
	Resources     struct {
		Requests map[string]string `json:"requests"`
	} `json:"resources"`
}

type kubeJob struct {
	Metadata kubeMeta `json:"metadata"`
	Spec     struct {
		Parallelism *int64 `json:"parallelism"`
		Completions *int64 `json:"completions"`
		Suspend     bool   `json:"suspend"`
		ManagedBy   string `json:"managedBy"`
		Template    struct {
			Spec kubePodSpec `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		Succeeded  int64           `json:"succeeded"`
		Conditions []kubeCondition `json:"conditions"`
	} `json:"status"`
}

func (k *kubernetes) take(document json.RawMessage) (bool, error) {
	var list struct {
		Version string            `json:"apiVersion"`
		Kind    string            `json:"kind"`
		Items   []json.RawMessage `json:"items"`
	}
	// What is no object is somebody else's.
	if json.Unmarshal(document, &list) != nil || list.Version == "" || list.Kind == "" {
		return false, nil
	}
	kind, isList := strings.CutSuffix(list.Kind, "List")
	if !isList {
		return true, k.object(list.Kind, document)
	}
	for n, item := range list.Items {
		if err := k.object(kind, item); err != nil {
			return true, fmt.Errorf("items[%d]: %w", n, err)
		}
	}
	return true, nil
}

// object reads one object; kind is that of its list, and may be left out there.
func (k *kubernetes) object(kind string, text json.RawMessage) error {
	var own struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(text, &own); err != nil {
		return err
	}
	if own.Kind != "" {
		kind = own.Kind
	}
	switch kind {
	case "Node":
		return appended(&k.nodes, text)
	case "Pod":
		return appended(&k.pods, text)
	case "Job":
		return appended(&k.jobs, text)
	}
	return fmt.Errorf("%w: an object of kind %q", ErrUnknownDocument, kind)
}

func appended[T any](list *[]T, text json.RawMessage) error {
	var one T
	err := json.Unmarshal(text, &one)
	*list = append(*list, one)
	return err
}

func (m *kubeMeta) id() string { return m.Namespace + "/" + m.Name }

// owner returns the name of the job that a pod is of; empty: of none.
func (m *kubeMeta) owner() string {
	for _, o := range m.Owners {
		if o.Kind == "Job" && o.Controller {
			return m.Namespace + "/" + o.Name
		}
	}
	return ""
}

// fewest are annotations of Jobs with how few pods are enough: this controller's, and Kueue's.
var fewest = []string{"apportion.github.io/min", "kueue.x-k8s.io/job-min-parallelism"}

// least returns how few pods of a Job are enough; 0: nothing is said that can be read. One is for the controller, by default.
func (j *kubeJob) least() int64 {
	for _, key := range fewest {
		if n, err := strconv.ParseInt(j.Metadata.Annotations[key], 10, 64); err == nil && n > 0 {
			return n
		}
	}
	if j.Spec.ManagedBy == "apportion.github.io/controller" {
		return 1
	}
	return 0
}

func (k *kubernetes) end(c *cluster) {
	for n := range k.nodes {
		k.node(c, &k.nodes[n])
	}
	of := make(map[string][]*kubePod) // by job
	for n := range k.pods {
		pod := &k.pods[n]
		if pod.Status.Phase == "Succeeded" || pod.Status.Phase == "Failed" {
			continue
		}
		of[pod.Metadata.owner()] = append(of[pod.Metadata.owner()], pod)
	}
	for n := range k.jobs {
		job := &k.jobs[n]
		k.job(c, job, of[job.Metadata.id()])
		delete(of, job.Metadata.id())
	}
	// Pods of no job that is known, in the order of their owners.
	for _, owner := range slices.Sorted(maps.Keys(of)) {
		for _, pod := range of[owner] {
			k.pod(c, pod)
		}
	}
}

// node adds a server. Taints become labels, which work requires not to be there unless it tolerates them.
func (k *kubernetes) node(c *cluster, n *kubeNode) {
	name := n.Metadata.Name
	for _, condition := range n.Status.Conditions {
		if condition.Type == "Ready" && condition.Status != "True" {
			c.leaveOut("node", name, "it is not ready")
			return
		}
	}
	s := &server{has: make(map[string]int64), labels: maps.Clone(n.Metadata.Labels), cordoned: n.Spec.Unschedulable}
	for kind, text := range n.Status.Allocatable {
		if !counts(kind) {
			continue
		}
		q, err := quantity(kind, text, false)
		if err != nil {
			c.leaveOut("node", name, "%s: %v", kind, err)
			return
		}
		s.has[kind] = q
	}
	for _, t := range n.Spec.Taints {
		if t.keepsOff() {
			if s.labels == nil {
				s.labels = make(map[string]string)
			}
			s.labels[t.label()] = t.Value
		}
	}
	c.servers[name] = s
}

// counts reports whether a kind of resource decides where work stands: not disks and numbers of pods, of which there is nearly always enough.
func counts(kind string) bool {
	return kind != "pods" && kind != "ephemeral-storage" && !strings.HasPrefix(kind, "hugepages-") && !strings.HasPrefix(kind, "attachable-volumes-")
}

// keepsOff reports whether a taint keeps work off; that of a cordon is the node's own field.
func (t *kubeTaint) keepsOff() bool {
	return (t.Effect == "NoSchedule" || t.Effect == "NoExecute") && t.Key != "node.kubernetes.io/unschedulable"
}

func (t *kubeTaint) label() string { return "taint:" + t.Key }

// job adds a job that is not over, with its pods.
func (k *kubernetes) job(c *cluster, j *kubeJob, pods []*kubePod) {
	for _, condition := range j.Status.Conditions {
		if condition.Status == "True" && (condition.Type == "Complete" || condition.Type == "Failed") {
			return
		}
	}
	count := int64(1)
	if j.Spec.Parallelism != nil {
		count = *j.Spec.Parallelism
	}
	if j.Spec.Completions != nil {
		count = min(count, *j.Spec.Completions-j.Status.Succeeded)
	}
	on, running := make(map[string]int64), int64(0)
	for _, pod := range pods {
		if pod.Spec.NodeName != "" {
			on[pod.Spec.NodeName]++
			running++
		}
	}
	// One that is to have fewer has its pods until they end.
	if count = max(count, running); count < 1 {
		c.leaveOut("job", j.Metadata.id(), "it asks for no pods")
		return
	}
	k.add(c, "job", &j.Metadata, &j.Spec.Template.Spec, work{count: count, least: j.least(), on: on})
}

// pod adds a pod of no job: one that waits is an application, one that runs takes its room.
func (k *kubernetes) pod(c *cluster, p *kubePod) {
	if p.Spec.NodeName == "" {
		k.add(c, "pod", &p.Metadata, &p.Spec, work{count: 1})
		return
	}
	uses, err := p.Spec.uses()
	if err != nil {
		c.leaveOut("pod", p.Metadata.id(), "%v; its node seems to have more room than it has", err)
	}
	c.occupy(p.Spec.NodeName, uses)
}

// add adds work of one form, of which w says how much there is; where its place cannot be said, what runs of it takes its room.
func (k *kubernetes) add(c *cluster, kind string, m *kubeMeta, spec *kubePodSpec, w work) {
	var err error
	if w.demand, err = spec.uses(); err == nil {
		w.requires, err = spec.requires(k.nodes)
	}
	if err != nil {
		c.leaveOut(kind, m.id(), "%v", err)
		for node, n := range w.on {
			for range n {
				c.occupy(node, w.demand)
			}
		}
		return
	}
	if w.id, w.priority = m.id(), spec.Priority; kind == "pod" {
		w.id = "pod:" + w.id // a job may have its name
	}
	c.work = append(c.work, w)
}

// uses returns what a pod takes: all that run beside each other, or the largest that comes before them.
func (s *kubePodSpec) uses() (map[string]int64, error) {
	together, first := make(map[string]int64), make(map[string]int64)
	for _, container := range s.InitContainers {
		into, stays := first, container.RestartPolicy == "Always"
		if stays {
			into = together
		}
		if err := addTo(into, container.Resources.Requests, stays); err != nil {
			return nil, err
		}
	}
	for _, container := range s.Containers {
		if err := addTo(together, container.Resources.Requests, true); err != nil {
			return nil, err
		}
	}
	for kind, q := range first {
		together[kind] = max(together[kind], q)
	}
	return together, addTo(together, s.Overhead, true)
}

// addTo adds requests, or takes the larger of the two.
func addTo(into map[string]int64, requests map[string]string, sum bool) error {
	for kind, text := range requests {
		if !counts(kind) {
			continue
		}
		q, err := quantity(kind, text, true)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		if sum {
			into[kind] = plus(into[kind], q)
		} else {
			into[kind] = max(into[kind], q)
		}
	}
	return nil
}
