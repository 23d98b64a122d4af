// This file makes the pods of a run, with a guard before the trainer.

package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// The volumes that pods get.
const (
	sharedVolume = "apportion-shared"
	guardVolume  = "apportion-guard"
)

// indexVariable is what the containers of an Indexed Job find their number in.
const indexVariable = "JOB_COMPLETION_INDEX"

// podName is the name of a pod: every run has its own.
func podName(job string, attempt int64, rank int) string {
	return fmt.Sprintf("%s-%d-%d", job, attempt, rank)
}

// pods makes the pods of a run, each bound to its node.
func (o *owner) pods(d *snapshot.Declared, t *managed.Task) ([]*corev1.Pod, error) {
	var list []*corev1.Pod
	for _, part := range t.Servers() {
		for rank := part.First; rank < part.First+part.Count; rank++ {
			p, err := o.pod(d, t, &part, rank)
			if err != nil {
				return nil, err
			}
			list = append(list, p)
		}
	}
	return list, nil
}

// pod makes one pod: what the user has declared, on a node, below a guard.
func (o *owner) pod(d *snapshot.Declared, t *managed.Task, part *managed.Part, rank int) (*corev1.Pod, error) {
	template := d.Template.DeepCopy()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: podName(d.Name, t.Attempt, rank), Labels: template.Labels,
		Annotations: template.Annotations, Finalizers: template.Finalizers,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(&metav1.ObjectMeta{Name: d.Name, UID: d.UID}, batchv1.SchemeGroupVersion.WithKind("Job"))}},
		Spec: template.Spec}
	p.Labels = with(p.Labels, snapshot.Attempt, strconv.FormatInt(t.Attempt, 10))
	p.Annotations = with(p.Annotations, batchv1.JobCompletionIndexAnnotation, strconv.Itoa(rank))
	p.Spec.NodeName, p.Spec.RestartPolicy = part.Server, corev1.RestartPolicyNever
	if o.mount.class != "" {
		p.Spec.PriorityClassName, p.Spec.Priority, p.Spec.PreemptionPolicy = o.mount.class, nil, nil
	}
	// Trainers of a Job with a headless service find each other by name.
	if name := fmt.Sprintf("%s-%d", d.Name, rank); p.Spec.Hostname == "" && len(validation.IsDNS1123Label(name)) == 0 {
		p.Spec.Hostname = name
	}
	if len(p.Spec.Containers) == 0 || len(p.Spec.Containers[0].Command) == 0 {
		return nil, errors.New("kubernetes: the pod has no command to be guarded") // which is checked when a Job is read
	}
	c := &p.Spec.Containers[0]
	argv := slices.Concat(o.guard.Command(t.Credential, d.SaveSignal), []string{"-rank", strconv.Itoa(rank), "--"}, c.Command, c.Args)
	c.Command, c.Args = argv[:1], argv[1:]
	env := t.Environment(part.Server)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: env[name]})
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: command.EnvRank, Value: strconv.Itoa(rank)}, corev1.EnvVar{Name: indexVariable, Value: strconv.Itoa(rank)})
	o.mount.add(&p.Spec, o.guard, t)
	return p, nil
}

// with returns a map with one more entry.
func with(m map[string]string, key, value string) map[string]string {
	more := map[string]string{}
	maps.Copy(more, m)
	more[key] = value
	return more
}

// saysUser reports whether a pod says whom its guarded container runs as.
func saysUser(spec *corev1.PodSpec) bool {
	pod, own := spec.SecurityContext, spec.Containers[0].SecurityContext
	return pod != nil && pod.RunAsUser != nil || own != nil && own.RunAsUser != nil
}

// add mounts the folders of the run, with the authorities that its guards trust, and nothing else of the shared one, and has the guard copied to where it is called.
func (m *mount) add(spec *corev1.PodSpec, g daemon.Guarded, t *managed.Task) {
	c := &spec.Containers[0]
	if m.user != nil && !saysUser(spec) {
		spec.SecurityContext = cmp.Or(spec.SecurityContext, &corev1.PodSecurityContext{})
		uid, gid := int64(m.user.UID), int64(m.user.GID)
		spec.SecurityContext.RunAsUser, spec.SecurityContext.RunAsGroup = &uid, &gid
	}
	if m.claim != "" {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: sharedVolume, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: m.claim}}})
		for _, path := range []string{t.Dir, t.Restore, t.Authorities} {
			if below, err := filepath.Rel(m.path, path); err == nil && filepath.IsLocal(below) {
				c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: sharedVolume, MountPath: path, SubPath: below})
			}
		}
	}
	if m.image != "" {
		folder := filepath.Dir(g.Program)
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: guardVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
		at := corev1.VolumeMount{Name: guardVolume, MountPath: folder}
		spec.InitContainers = append(spec.InitContainers, corev1.Container{Name: guardVolume, Image: m.image,
			Command: []string{"/usr/local/bin/apportion-kubernetes", placeWord, g.Program}, VolumeMounts: []corev1.VolumeMount{at},
			SecurityContext: c.SecurityContext.DeepCopy()})
		at.ReadOnly = true
		c.VolumeMounts = append(c.VolumeMounts, at)
	}
}
