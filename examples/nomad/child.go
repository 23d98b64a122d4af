// This file names the child jobs that the controller registers, one for each elastic job.

package nomad

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/nomad/api"
)

// The meta keys of a child job. They are the fence: what was asked for last, by which master, and what must not live.
const (
	metaEpoch   = metaPrefix + "epoch"
	metaAttempt = metaPrefix + "attempt"
	metaStopped = metaPrefix + "stopped"
	metaEnded   = metaPrefix + "ended" // how the job has ended, for people
)

// childEnding ends the names of child jobs. Others may call their jobs so as well: isChild tells them apart.
const childEnding = "/run"

func childOf(job string) string { return job + childEnding }

// isChild reports whether a job is one that a controller has registered: the note in its meta keys says so, and not its name
// alone. The list of jobs has them for every job. Of the jobs of users none has the note, since readMeta knows no such key.
func isChild(id string, meta map[string]string) bool {
	return strings.HasSuffix(id, childEnding) && meta[metaEpoch] != ""
}

// A node's name may have dashes, and an attempt has none: so the first dash ends the attempt.
func groupOf(attempt int64, node string) string {
	return "a" + strconv.FormatInt(attempt, 10) + "-" + node
}

// child is the child of a job.
type child struct {
	// mu keeps registrations apart: the servers of a job all ask for them at the same time.
	mu sync.Mutex
	// looked is when allocations were read last.
	looked      time.Time
	allocations []*api.AllocationListStub
	// stopped is the newest attempt that was noted as over by this master.
	stopped atomic.Int64
}
