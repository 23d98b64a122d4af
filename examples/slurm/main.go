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

// switches says that nodes have labels of the switches that they are below.
var switches bool

// program is the controller as a program. Slurm's commands find their cluster by themselves, or by SLURM_CONF.
var program = daemon.Program{Name: "apportion-slurm", Kinds: kinds, Idle: 5 * time.Second, Flags: func(flags *flag.FlagSet) {
	flags.BoolVar(&switches, "switches", false, "label nodes with the switches of topology.conf, for -topology switch:1,switch:0")
}, Connect: func(epoch int64, folder string, g daemon.Guarded) (daemon.Cluster, error) {
	s := newSlurm(epoch, folder, g)
	s.switches = switches
	return s, nil
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
