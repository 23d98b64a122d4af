// This file chooses the component of a Kubernetes control plane that runs.

// Controlplane is etcd, kube-apiserver, kube-scheduler and the Job controller in one file, chosen by the first argument: what
// the tests of elastic jobs on Kubernetes run on the loopback. It has no code of its own but for the choice.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// components are those that are commands of Kubernetes.
var components = map[string]func() *cobra.Command{
	"kube-apiserver": apiserver.NewAPIServerCommand,
	"kube-scheduler": func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"job-controller": jobController,
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: controlplane etcd|kube-apiserver|kube-scheduler|job-controller [flags]")
		os.Exit(2)
	}
	// Each component takes its own name for that of the program.
	os.Args = os.Args[1:]
	if os.Args[0] == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	command, known := components[os.Args[0]]
	if !known {
		fmt.Fprintf(os.Stderr, "controlplane: %q is no component\n", os.Args[0])
		os.Exit(2)
	}
	os.Exit(cli.Run(command()))
}
