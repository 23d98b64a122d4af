// This program shares a Slurm cluster among elastic training jobs: it decides by Dorm's optimizer who has how many tasks on
// which node, and resizes running jobs by checkpoints. Jobs are held and marked by their comment; see README.md.
package main

import (
	"github.com/apportion/apportion/examples/internal/external"
)

// program is the controller as a program. Slurm's commands find their cluster by themselves, or by SLURM_CONF.
var program = external.Program{Name: "slurm", Kinds: kinds, Connect: func(epoch int64, folder string, g external.Guarded) (external.Cluster, error) {
	return newSlurm(epoch, folder, g), nil
}}

func main() { program.Main() }
