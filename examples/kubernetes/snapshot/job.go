// This file reads Jobs as elastic jobs.

package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/controller"
)

// Declared is what the pods of a job are made of, as its user has declared it.
type Declared struct {
	Namespace  string                 `json:"namespace"`
	Name       string                 `json:"name"`
	UID        types.UID              `json:"uid"`
	Template   corev1.PodTemplateSpec `json:"template"`
	SaveSignal string                 `json:"save_signal,omitempty"`
	// User is whom the guarded container runs as; nil: the user of its image.
	User *command.User `json:"user,omitempty"`
}

// declare is what the pods of a Job are made of, as JSON.
func (r *Reader) declare(j *batchv1.Job) (json.RawMessage, error) {
	user, err := r.userOf(&j.Spec.Template.Spec)
	if err != nil {
		return nil, err
	}
	return json.Marshal(Declared{j.Namespace, j.Name, j.UID, j.Spec.Template, strings.TrimPrefix(j.Annotations[Prefix+saveSignal], "SIG"), user})
}

// maxDeaths is how many runs of a Job may die without a step further, 0 if nothing is said. The API server says it of each Job.
func maxDeaths(j *batchv1.Job) int {
	if j.Spec.BackoffLimit == nil {
		return 0
	}
	return int(*j.Spec.BackoffLimit) + 1
}

// application reads what a Job asks for, without its requirements on nodes. priorities are those of the classes.
func (r *Reader) application(j *batchv1.Job, priorities map[string]int64) (alloc.Application, error) {
	spec := &j.Spec.Template.Spec
	app := alloc.Application{ID: ID(j.Namespace, j.Name), Weight: 1, Queue: queueOf(j), Form: alloc.Form{Min: 1, Max: 1, Demand: Demand(r.kinds, spec)}}
	if j.Spec.Parallelism != nil {
		app.Max = int64(*j.Spec.Parallelism)
	}
	if spec.PriorityClassName != "" {
		app.Priority = priorities[spec.PriorityClassName]
	} else if spec.Priority != nil {
		app.Priority = int64(*spec.Priority)
	}
	err := errors.Join(checkJob(j), checkPod(spec), readTopology(&app, j.Spec.Template.Annotations), readAnnotations(&app, j.Annotations))
	return app, errors.Join(err, checkPorts(&app, spec))
}

// checkJob says what of a Job cannot be kept.
func checkJob(j *batchv1.Job) error {
	switch {
	case j.Spec.Completions != nil && (j.Spec.Parallelism == nil || *j.Spec.Completions != *j.Spec.Parallelism):
		return fmt.Errorf("it has %d completions: all containers work together, so leave them out or let them be the parallelism", *j.Spec.Completions)
	case j.Spec.ActiveDeadlineSeconds != nil:
		return errors.New("activeDeadlineSeconds is not kept by the controller: leave it out")
	case j.Spec.PodFailurePolicy != nil:
		return errors.New("podFailurePolicy is not kept by the controller: leave it out")
	case j.Spec.SuccessPolicy != nil:
		return errors.New("successPolicy is not kept by the controller: leave it out")
	case j.Spec.BackoffLimitPerIndex != nil:
		return errors.New("backoffLimitPerIndex is not kept by the controller: leave it out")
	}
	return nil
}

// checkPod says what of a pod cannot be decided on, or cannot be guarded.
func checkPod(spec *corev1.PodSpec) error {
	switch {
	case len(spec.Containers[0].Command) == 0:
		return fmt.Errorf("container %q has no command: the guard is put before it, and cannot know that of the image", spec.Containers[0].Name)
	case spec.RestartPolicy == corev1.RestartPolicyOnFailure:
		return errors.New("restartPolicy OnFailure is not kept: the controller starts a run again as a whole, so say Never")
	case spec.SchedulerName != "" && spec.SchedulerName != corev1.DefaultSchedulerName:
		return fmt.Errorf("scheduler %q would not place its pods, the controller does: leave schedulerName out", spec.SchedulerName)
	case spec.NodeName != "":
		return fmt.Errorf("its pods are bound to node %q: leave nodeName out", spec.NodeName)
	case len(spec.SchedulingGates) > 0:
		return errors.New("its pods have scheduling gates: the controller binds them when they are due")
	case len(spec.ResourceClaims) > 0:
		return errors.New("its pods have resource claims: devices are counted by extended resources only")
	case len(spec.TopologySpreadConstraints) > 0:
		return errors.New("a topology spread cannot be decided by")
	}
	return checkAffinity(spec.Affinity)
}

// checkAffinity says what of an affinity cannot be decided on. Preferences are no exception: they would be dropped.
func checkAffinity(a *corev1.Affinity) error {
	switch {
	case a == nil:
	case a.PodAffinity != nil:
		return errors.New("pod affinity cannot be decided by")
	case a.PodAntiAffinity != nil:
		return fmt.Errorf("pod anti-affinity cannot be decided by: the annotation %sper-server bounds the containers on a node", Prefix)
	case a.NodeAffinity != nil && len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0:
		return errors.New("preferences among nodes cannot be decided by: only what is required")
	}
	return nil
}

// checkPorts refuses ports of nodes where two pods of the job may be on one.
func checkPorts(app *alloc.Application, spec *corev1.PodSpec) error {
	for i := range spec.Containers {
		for _, port := range spec.Containers[i].Ports {
			if (port.HostPort != 0 || spec.HostNetwork) && app.PerServer != 1 {
				return fmt.Errorf("port %d of a node is for one pod there: say the annotation %sper-server: \"1\"", port.ContainerPort, Prefix)
			}
		}
	}
	return nil
}

// saveSignal is the annotation with the signal that asks a trainer to save.
const saveSignal = "save-signal"

// readAnnotations reads the annotations of an application. The most containers and the priority are in the Job itself.
func readAnnotations(app *alloc.Application, annotations map[string]string) error {
	declared := map[string]string{}
	for key, text := range annotations {
		name, ours := strings.CutPrefix(key, Prefix)
		switch {
		case !ours, key == Note:
		case name == "max", name == "priority":
			return fmt.Errorf("annotation %s = %q: this annotation is not known", key, text)
		default:
			declared[name] = text
		}
	}
	if _, err := controller.Declare(app, declared); err != nil {
		return fmt.Errorf("annotation %s%w", Prefix, err)
	}
	return nil
}
