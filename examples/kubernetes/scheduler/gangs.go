// This file implements gangs: pods of one owner that run together or not at all.

package scheduler

import (
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// Gang is the annotation of a pod with the number of pods of its owner that must have a place together.
const Gang = snapshot.Prefix + "gang"

// gangs are those that have places. They are safe for concurrent use.
type gangs struct {
	mu sync.Mutex
	// placed are the pods of each owner that are bound or reserved.
	placed map[types.UID]map[types.UID]bool
}

// gangOf returns the owner of a pod and the size of its gang; size 0: it has none.
func gangOf(p *corev1.Pod) (owner types.UID, size int) {
	ref := metav1.GetControllerOf(p)
	size, err := strconv.Atoi(p.Annotations[Gang])
	if ref == nil || err != nil || size < 1 {
		return "", 0
	}
	return ref.UID, size
}

// place notes that a pod has a place.
func (g *gangs) place(p *corev1.Pod) {
	owner, size := gangOf(p)
	if size == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.placed[owner] == nil {
		g.placed[owner] = map[types.UID]bool{}
	}
	g.placed[owner][p.UID] = true
}

// leave notes that a pod has none.
func (g *gangs) leave(p *corev1.Pod) {
	owner, _ := gangOf(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.placed[owner], p.UID)
	if len(g.placed[owner]) == 0 {
		delete(g.placed, owner)
	}
}

// missing returns how many pods of the gang of a pod have no place, 0 for one without a gang.
func (g *gangs) missing(p *corev1.Pod) int {
	owner, size := gangOf(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(0, size-len(g.placed[owner]))
}
