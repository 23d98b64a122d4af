// Package slurm shares a Slurm cluster among elastic training jobs: it decides by Dorm's optimizer who has how many tasks on
// which node, and resizes running jobs by checkpoints. Jobs are held and marked by their comment; see README.md.
package slurm

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/apportion/apportion/checkpoint/controller/daemon"
)

// settings are Slurm's own flags.
type settings struct {
	// switches says that nodes have labels of the switches that they are below.
	switches bool
	// standing is that of the parts of runs in Slurm's eyes, below the jobs of others; a partition or a QOS takes the place of the job's.
	standing struct {
		nice           int
		partition, qos string
	}
}

// given are the flags that were given.
var given settings

// lowered is how much less the priority of a part is: with priority/multifactor, more than age and size come to at most sites.
const lowered = 10000

// program is the controller as a program. Slurm's commands find their cluster by themselves, or by SLURM_CONF.
var program = daemon.Program{Name: "apportion-slurm", Kinds: kinds, Idle: 5 * time.Second, Flags: func(flags *flag.FlagSet) {
	flags.IntVar(&given.standing.nice, "nice", lowered, "by how much Slurm's priority of elastic jobs' parts is less than that of others' jobs; 0: by nothing")
	flags.StringVar(&given.standing.partition, "partition", "", "the partition of elastic jobs' parts, such as one of a low PriorityTier whose jobs others preempt (default that of the job)")
	flags.StringVar(&given.standing.qos, "qos", "", "the QOS of elastic jobs' parts, such as one that others preempt (default that of the job)")
	flags.BoolVar(&given.switches, "switches", false, "label nodes with the switches of topology.conf, for -topology switch:1,switch:0")
}, Connect: func(epoch int64, folder string, g daemon.Guarded) (daemon.Cluster, error) {
	if given.standing.nice < 0 {
		return nil, fmt.Errorf("-nice %d would put elastic jobs above others", given.standing.nice)
	}
	return newSlurm(epoch, folder, g), nil
}}

// Main is the main function of apportion-slurm: the controller, or with the word submit in front of the arguments what users
// submit a job by.
func Main() {
	if len(os.Args) < 2 || os.Args[1] != "submit" {
		program.Main()
		return
	}
	if err := submit(os.Args[2:], os.Environ()); err != nil {
		fmt.Fprintf(os.Stderr, "%s submit: %v\n", program.Name, err)
		os.Exit(1)
	}
}
