// This file names the child jobs that the controller registers, one for each elastic job.

package main

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"
)

// childEnding ends the names of child jobs, which the controller registers and nobody else.
const childEnding = "/run"

// A user's job may not end so, or would be taken for a child.
func childOf(job string) string { return job + childEnding }

// Whatever has such a name counts as the controller's own, also a job that somebody else has called so.
func isChild(job string) bool { return strings.HasSuffix(job, childEnding) }

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
}
