// This file reads Jobs as elastic jobs.

package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion/alloc"
)

// Declared is what the pods of a job are made of, as its user has declared it.
type Declared struct {
	Namespace  string                 `json:"namespace"`
	Name       string                 `json:"name"`
	UID        types.UID              `json:"uid"`
	Template   corev1.PodTemplateSpec `json:"template"`
	SaveSignal string                 `json:"save_signal,omitempty"`
}

// declare is what the pods of a Job are made of, as JSON.
func declare(j *batchv1.Job) (json.RawMessage, error) {
	return json.Marshal(Declared{j.Namespace, j.Name, j.UID, j.Spec.Template, strings.TrimPrefix(j.Annotations[Prefix+saveSignal], "SIG")})
}

// application reads what a Job asks for, without its requirements on nodes. priorities are those of the classes.
func (r *Reader) application(j *batchv1.Job, priorities map[string]int64) (alloc.Application, error) {
	spec := &j.Spec.Template.Spec
	app := alloc.Application{ID: ID(j.Namespace, j.Name), Weight: 1, Min: 1, Max: 1, Queue: queueOf(j), Demand: Demand(r.kinds, spec)}
	if j.Spec.Parallelism != nil {
		app.Max = int64(*j.Spec.Parallelism)
	}
	if spec.PriorityClassName != "" {
		app.Priority = priorities[spec.PriorityClassName]
	} else if spec.Priority != nil {
		app.Priority = int64(*spec.Priority)
	}
	return app, errors.Join(checkJob(j), checkPod(spec), readAnnotations(&app, j.Annotations))
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
	case spec.NodeName != "":
		return fmt.Errorf("its pods are bound to node %q: leave nodeName out", spec.NodeName)
	case len(spec.SchedulingGates) > 0:
		return errors.New("its pods have scheduling gates: the controller binds them when they are due")
	case len(spec.ResourceClaims) > 0:
		return errors.New("its pods have resource claims: devices are counted by extended resources only")
	case spec.Affinity != nil && spec.Affinity.PodAffinity != nil && len(spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0:
		return errors.New("required pod affinity cannot be decided by")
	case spec.Affinity != nil && spec.Affinity.PodAntiAffinity != nil && len(spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0:
		return fmt.Errorf("required pod anti-affinity cannot be decided by: the annotation %sper-server bounds the containers on a node", Prefix)
	}
	for i := range spec.TopologySpreadConstraints {
		if spec.TopologySpreadConstraints[i].WhenUnsatisfiable == corev1.DoNotSchedule {
			return errors.New("a topology spread that must hold cannot be decided by")
		}
	}
	return nil
}

// saveSignal is the annotation with the signal that asks a trainer to save.
const saveSignal = "save-signal"

// readAnnotations reads the annotations of an application.
func readAnnotations(app *alloc.Application, annotations map[string]string) error {
	numbers := map[string]*int64{"min": &app.Min, "step": &app.Step, "per-server": &app.PerServer, "max-servers": &app.MaxServers}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		text := annotations[key]
		name, ours := strings.CutPrefix(key, Prefix)
		to, isNumber := numbers[name]
		var err error
		switch {
		case !ours, key == Note:
		case isNumber:
			*to, err = strconv.ParseInt(text, 10, 64)
		case key == Weight:
			app.Weight, err = strconv.ParseFloat(text, 64)
		case name == "adjust-cost":
			app.AdjustCost = new(int64)
			*app.AdjustCost, err = strconv.ParseInt(text, 10, 64)
		case name == "preemptible":
			app.Preemptible, err = strconv.ParseBool(text)
		case name == saveSignal:
			if !slices.Contains([]string{"USR1", "USR2", "HUP"}, strings.TrimPrefix(text, "SIG")) {
				err = errors.New("USR1, USR2 or HUP ask a job to save")
			}
		default:
			err = errors.New("this annotation is not known")
		}
		if err != nil {
			return fmt.Errorf("annotation %s = %q: %w", key, text, err)
		}
	}
	return nil
}
