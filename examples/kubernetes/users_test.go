// This file plays jobs of two ordinary users on a real Kubernetes control plane.

package kubernetes

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/internal/must"
)

// Users of the jobs, of whom the system need not know.
const firstUser, secondUser, thirdUser = 20001, 20002, 20003

// as has the pods of a Job run as a user, as restricted namespaces demand it: by the word of the pod, or of the container.
func as(j *batchv1.Job, uid int64, byPod bool) *batchv1.Job {
	yes, no := true, false
	spec := &j.Spec.Template.Spec
	own := &corev1.SecurityContext{RunAsNonRoot: &yes, AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	if byPod {
		spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &uid, RunAsGroup: &uid}
	} else {
		own.RunAsUser, own.RunAsGroup = &uid, &uid
	}
	spec.Containers[0].SecurityContext = own
	return j
}

// Jobs of two users, in a namespace that demands restricted pods, are each resized twice and go on from what was saved, and neither
// can read anything of the other. The controller is root with the capabilities that are shipped, and no others.
func TestUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("processes of other users are started by root alone")
	}
	b := newBench(t, "n1", "n2")
	if err := os.Chmod(b.Dir, 0o711); err != nil { // the programs lie there
		t.Fatal(err)
	}
	b.limited(t)
	restricted := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	must.Have(b.cluster.Client.CoreV1().Namespaces().Patch(t.Context(), inNamespace, types.MergePatchType, restricted, metav1.PatchOptions{}))(t)
	b.locks("default/a", "default/b", "default/c")
	b.submit(as(b.job("a", 16, 1000000, nil), firstUser, true))
	b.Holds(map[string]int{"default/a": 16})
	b.submit(as(b.job("b", 16, 1000000, nil), secondUser, false))
	b.Holds(map[string]int{"default/a": 8, "default/b": 8})
	b.Saved("default/a", "default/b")
	b.submit(as(b.job("c", 4, 1000000, nil), thirdUser, true))
	b.Holds(map[string]int{"default/a": 6, "default/b": 6, "default/c": 4})
	b.Saved("default/a", "default/b", "default/c")
	b.delete("c")
	b.Holds(map[string]int{"default/a": 8, "default/b": 8})
	b.check()
	b.mountsOwn(t, "a")
	a, other := &syscall.Credential{Uid: firstUser, Gid: firstUser}, &syscall.Credential{Uid: secondUser, Gid: secondUser}
	b.Hidden("default/a", a, other)
	b.Hidden("default/b", other, a)
}

// limited starts the controller again with no more than the capabilities of its manifest, for pods as on a cluster: they get the guard
// from an image and the folders of their run from a claim.
func (b *bench) limited(t *testing.T) {
	t.Helper()
	var set appsv1.StatefulSet
	for text := range strings.SplitSeq(readFile(t, "deploy/controller.yaml"), "\n---\n") {
		if strings.Contains(text, "kind: StatefulSet") {
			must.Do(t, yaml.UnmarshalStrict([]byte(text), &set))
		}
	}
	bounds := "-all"
	for _, c := range set.Spec.Template.Spec.Containers[0].SecurityContext.Capabilities.Add {
		bounds += ",+" + strings.ToLower(string(c))
	}
	program := filepath.Join(b.Dir, "controller")
	script := fmt.Sprintf("#!/bin/sh\nexec setpriv --no-new-privs --bounding-set %s --inh-caps=-all %s.real \"$@\"\n", bounds, program)
	b.End()
	must.Do(t, errors.Join(os.Rename(program, program+".real"), os.WriteFile(program, []byte(script), 0o700)))
	b.Set("-guard-image", "registry.example/apportion", "-claim", "shared")
}

// The guard of the image comes to where pods run it, by this program and nothing else.
func TestPlace(t *testing.T) {
	image, to := t.TempDir(), filepath.Join(t.TempDir(), "guard")
	must.Err(t, place(filepath.Join(image, "apportion-kubernetes"), to), os.ErrNotExist, "no guard")
	must.Do(t, os.WriteFile(filepath.Join(image, "apportion-guard"), []byte("#!/bin/sh\necho here\n"), 0o600))
	must.Do(t, place(filepath.Join(image, "apportion-kubernetes"), to))
	if out, err := exec.Command(to).Output(); err != nil || string(out) != "here\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// mountsOwn checks that the pods of a Job see of the shared claim the folders of their run, and nothing else.
func (b *bench) mountsOwn(t *testing.T, name string) {
	t.Helper()
	list := must.Have(b.cluster.Client.CoreV1().Pods(inNamespace).List(t.Context(), metav1.ListOptions{}))(t)
	for i := range list.Items {
		p := &list.Items[i]
		if !strings.HasPrefix(p.Name, name+"-") || !snapshot.IsLive(p) {
			continue
		}
		var below []string
		for _, m := range p.Spec.Containers[0].VolumeMounts {
			if m.Name == sharedVolume {
				below = append(below, m.SubPath)
			}
		}
		folder := string(store.FolderOf(snapshot.ID(inNamespace, name))) + "/" + p.Labels[snapshot.Attempt]
		must.Same(t, below, []string{"runs/" + folder, "restored/" + folder}, "pod", p.Name, "sees", "of the shared folder")
	}
}

// locks makes the locks beside the folders of runs by which the trainers of the test notice that a rank runs twice: users cannot.
func (b *bench) locks(ids ...string) {
	b.Helper()
	for _, id := range ids {
		folder := filepath.Join(b.Shared, "runs", string(store.FolderOf(id)))
		err := os.MkdirAll(folder, 0o711)
		for rank := range 16 {
			name := filepath.Join(folder, fmt.Sprintf("rank-%d.lock", rank))
			err = errors.Join(err, os.WriteFile(name, nil, 0o600), os.Chmod(name, 0o666))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
