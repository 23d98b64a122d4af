// This file declares what the controller knows of a Nomad cluster.

package nomad

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
)

// nomad is a Nomad cluster as the controller sees it. It implements daemon.Cluster.
// What is remembered saves calls and nothing else.
type nomad struct {
	client *api.Client
	// epoch is that of the controller; guard is how its guards are started.
	epoch int64
	guard daemon.Guarded
	// advised: jobs have containers of their own, whose number an autoscaler changes.
	advised bool
	// priority is that of children in Nomad's eyes; 0: that of the job.
	priority int

	watch watch

	mu sync.Mutex
	// own are the IDs of the children that were there when jobs were listed last.
	own map[string]bool
	// nodes and jobs are what was read before, by ID: they are read again when their index has changed.
	nodes map[string]*api.Node
	jobs  map[string]read
	// others are jobs of others that have containers queued. The goroutine of Look alone has them.
	others map[string]*api.Job
	// children are one lock and what is known of the child of each job.
	children map[string]*child
}

// read is a job as it was read at an index.
type read struct {
	index uint64
	job   controller.Job
	fault error
}

// newNomad returns a cluster that has not been looked at.
func newNomad(client *api.Client, epoch int64, g daemon.Guarded) *nomad {
	return &nomad{client: client, epoch: epoch, guard: g, nodes: map[string]*api.Node{}, jobs: map[string]read{}, others: map[string]*api.Job{}, children: map[string]*child{}}
}

var _ daemon.Cluster = (*nomad)(nil)

// isNotFound reports whether an error of the API says that there is no such thing.
func isNotFound(err error) bool {
	return err != nil && strings.Contains(err.Error(), "404")
}

// specOf is the Nomad job that a Spec holds.
func specOf(spec json.RawMessage) (*api.Job, error) {
	var j api.Job
	err := json.Unmarshal(spec, &j)
	return &j, err
}
