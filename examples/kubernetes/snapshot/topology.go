// This file reads where the pods of a Job are to be as Kueue has it: by annotations of their template that name labels of nodes.

package snapshot

import (
	"fmt"
	"strconv"

	"github.com/apportion/apportion/alloc"
)

// The annotations of Kueue's topology aware scheduling, and what they name.
const (
	requiredTopology      = "kueue.x-k8s.io/podset-required-topology"       // the level of whose domains one has all pods
	preferredTopology     = "kueue.x-k8s.io/podset-preferred-topology"      // the level of which the fewest domains are wanted
	sliceRequiredTopology = "kueue.x-k8s.io/podset-slice-required-topology" // the level of whose domains one has each slice
	sliceSize             = "kueue.x-k8s.io/podset-slice-size"              // how many pods a slice has
)

// readTopology reads these annotations of a template. Whether there is such a level, and slices divide the pods, is asked when the whole
// Job has been read.
func readTopology(app *alloc.Application, annotations map[string]string) error {
	app.Within, app.Prefer = annotations[requiredTopology], annotations[preferredTopology]
	size, sized := annotations[sliceSize]
	within, sliced := annotations[sliceRequiredTopology]
	if !sized && !sliced {
		return nil
	}
	if !sized || !sliced {
		return fmt.Errorf("annotations %s and %s go together", sliceSize, sliceRequiredTopology)
	}
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil {
		return fmt.Errorf("annotation %s = %q: %w", sliceSize, size, err)
	}
	app.Slices = &alloc.Slices{Containers: n, Within: within}
	return nil
}
