// This file holds what the plays and their daemons have in common.

package main

import (
	"path/filepath"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
)

// kinds are those of the clusters.
var kinds = apportion.Kinds{"cpu", "memory"}

// home is the place of a cluster unless -dir names another.
var home = filepath.Join("out", "cluster")

// lease is how long an agent goes on without a master: long enough for a machine on which many processes
// load a framework at the same time.
const lease = time.Minute

// setting is what a policy may ask of the master it works for.
type setting struct {
	place cluster.Place
	slot  time.Duration
}
