// This file reads what runs of elastic Jobs.

package snapshot

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion/alloc"
)

// Running returns how many pods of the controller's each elastic Job has on each node: those that have not come to their end and
// are not being deleted. O(Jobs + pods).
func Running(o *Objects) alloc.Allocation {
	ids := map[types.UID]string{}
	for _, j := range o.Jobs {
		if IsElastic(j) {
			ids[j.UID] = ID(j.Namespace, j.Name)
		}
	}
	running := alloc.Allocation{}
	for _, p := range o.Pods {
		id := ids[Owner(p)]
		if id == "" || p.Labels[Attempt] == "" || p.Spec.NodeName == "" || !IsLive(p) || p.DeletionTimestamp != nil {
			continue
		}
		if running[id] == nil {
			running[id] = map[string]int64{}
		}
		running[id][p.Spec.NodeName]++
	}
	return running
}
