// This file implements gangs: pods of one owner that run together or not at all.

package scheduler

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// Gang is the annotation of a pod with the number of pods of its owner that must have a place together.
const Gang = snapshot.Prefix + "gang"

// gangOf returns the owner of a pod and the size of its gang; size 0: it has none.
func gangOf(p *corev1.Pod) (owner types.UID, size int) {
	ref := metav1.GetControllerOf(p)
	size, err := strconv.Atoi(p.Annotations[Gang])
	if ref == nil || err != nil || size < 1 {
		return "", 0
	}
	return ref.UID, size
}

// missing returns how many pods of the gang of a pod have no place, 0 for one without a gang.
func (s *shares) missing(p *corev1.Pod) int {
	owner, size := gangOf(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, size-s.placed[owner])
}
