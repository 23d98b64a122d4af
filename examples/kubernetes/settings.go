// This file declares the flags that are for Kubernetes, and reaches the API server by them.

package kubernetes

import (
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/examples/kubernetes/program"
)

// settings are the flags that are for Kubernetes.
type settings struct {
	program.Flags
	leaderLease time.Duration
	mount
}

// mount is what pods get beside their template: the shared folder, the guard, and their standing.
type mount struct {
	// claim is the PersistentVolumeClaim with the shared folder, in the namespace of the job, and path where it is mounted;
	// "": the folder is in pods anyhow.
	claim, path string
	// image holds the guard; "": it is in pods anyhow.
	image string
	// class is the PriorityClass of pods, in place of that of their template; "": that.
	class string
	// user is whom pods run as whose template does not say it; nil: the users of their images.
	user *command.User
}

// rate is how many calls a second the controller may make: it asks for what has to be done, not for lists.
const rate = 200

// connect makes a client.
func (s *settings) connect() (kubernetes.Interface, error) {
	config, err := s.Config(rate)
	if err != nil {
		return nil, err
	}
	config.Timeout = 30 * time.Second
	return kubernetes.NewForConfig(config)
}
