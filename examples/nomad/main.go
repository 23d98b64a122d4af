// Package nomad shares a Nomad cluster among elastic training jobs: it decides by Dorm's optimizer who has how many
// containers on which node, and resizes running jobs by checkpoints. Jobs are marked by meta keys; see README.md.
package nomad

import (
	"flag"
	"fmt"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/checkpoint/controller/daemon"
)

// program is the controller as a program. Address, token and certificates of Nomad come from NOMAD_ADDR, NOMAD_TOKEN,
// NOMAD_CACERT and so on.
var program = daemon.Program{Name: "apportion-nomad", Kinds: kinds, Connect: func(epoch int64, _ string, g daemon.Guarded) (daemon.Cluster, error) {
	client, err := api.NewClient(api.DefaultConfig())
	if err != nil {
		return nil, err
	}
	if standing < 0 || standing > 100 {
		return nil, fmt.Errorf("-priority %d is not from 0 to 100", standing)
	}
	n := newNomad(client, epoch, g)
	n.priority = standing
	return n, nil
}, Advised: func() (daemon.Cluster, error) {
	client, err := api.NewClient(api.DefaultConfig())
	if err != nil {
		return nil, err
	}
	n := newNomad(client, 0, daemon.Guarded{})
	n.advised = true
	return n, nil
}}

// standing is Nomad's of what runs of elastic jobs. By default it is the least, so that Nomad's own preemption, where it is on, ends these
// first.
var standing int

// Main is the main function of apportion-nomad.
func Main() {
	etcd := etcdFlags(&program)
	program.Flags = func(flags *flag.FlagSet) {
		etcd(flags)
		flags.IntVar(&standing, "priority", 1, "Nomad's priority of containers of elastic jobs, from 1 to 100; what a job says counts for decisions only; 0: that of the job")
	}
	program.Main()
}
