// This file reads whom the containers of a Job run as.

package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/apportion/apportion/checkpoint/command"
)

// userOf returns whom the guarded container of a pod runs as: by its own word, the pod's, or what is said of all that say nothing; nil:
// the user of its image, or root. Files of a run get the group of the pod too, or its user's own.
func (r *Reader) userOf(spec *corev1.PodSpec) (*command.User, error) {
	pod, own := spec.SecurityContext, spec.Containers[0].SecurityContext
	pod = cmp.Or(pod, &corev1.PodSecurityContext{})
	own = cmp.Or(own, &corev1.SecurityContext{})
	uid, mustNot := cmp.Or(own.RunAsUser, pod.RunAsUser), cmp.Or(own.RunAsNonRoot, pod.RunAsNonRoot)
	switch {
	case uid == nil && r.User != nil:
		return r.User, nil
	case uid == nil && mustNot != nil && *mustNot:
		return nil, errors.New("runAsNonRoot without runAsUser: say the number of the user, whom the files of a run are handed over to")
	case uid == nil || *uid == 0:
		return nil, nil
	}
	gid := cmp.Or(own.RunAsGroup, pod.RunAsGroup, pod.FSGroup)
	if gid == nil || *gid == 0 {
		gid = uid
	}
	// The API server checks them as well, but templates are read that it has never seen.
	if min(*uid, *gid) < 0 || max(*uid, *gid) > math.MaxInt32 {
		return nil, fmt.Errorf("runAsUser %d, group %d: numbers up to %d are users", *uid, *gid, math.MaxInt32)
	}
	return &command.User{UID: uint32(*uid), GID: uint32(*gid)}, nil
}
