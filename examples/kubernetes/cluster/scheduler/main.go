// This file runs Kubernetes' own scheduler with the plugin of this project in it.

// Scheduler is kube-scheduler with the plugin Apportion, which a profile of its configuration enables: what a cluster runs that
// wants the plugin, and what its tests run. It is a program of its own, so that a change of the plugin, or of the packages that
// it is made of, does not make the control plane of the tests anew.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	plugin "github.com/apportion/apportion/examples/kubernetes/scheduler"
)

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand(app.WithPlugin(plugin.Name, plugin.New))))
}
