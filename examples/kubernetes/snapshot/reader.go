// This file declares what views are read from, and by whom.

package snapshot

import (
	"encoding/json"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/command"
)

// Objects are what a cluster holds at one moment. They are read and not changed.
type Objects struct {
	Nodes      []*corev1.Node
	Pods       []*corev1.Pod
	Jobs       []*batchv1.Job
	Namespaces []*corev1.Namespace
	Quotas     []*corev1.ResourceQuota
	Classes    []*schedulingv1.PriorityClass
	// Now is the time of that moment.
	Now time.Time
}

// Reader reads views. It is not safe for concurrent use.
type Reader struct {
	// User is whom pods run as whose template does not say it; nil: the users of their images.
	User *command.User

	kinds apportion.Kinds
	// declared are the pods of Jobs as JSON, by the versions of these.
	declared map[types.UID]declared
}

// declared is what Declared was at a version of a Job.
type declared struct {
	version string
	text    json.RawMessage
}

// NewReader returns a reader that counts these kinds of resources.
func NewReader(kinds apportion.Kinds) *Reader {
	return &Reader{kinds: kinds, declared: map[types.UID]declared{}}
}
