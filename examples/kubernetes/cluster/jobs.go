// This file runs Kubernetes' own Job controller and none of the others that kube-controller-manager has, which would take
// nodes away that no kubelet keeps alive.

package main

import (
	"github.com/spf13/cobra"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/pkg/controller/job"
)

// rate is how many calls a second the controller may make: tests do not wait for a client's limit.
const rate = 1000

// workers is how many Jobs are looked at at the same time.
const workers = 4

// jobController is the command of the Job controller.
func jobController() *cobra.Command {
	var kubeconfig string
	command := &cobra.Command{Use: "job-controller", SilenceUsage: true, RunE: func(command *cobra.Command, _ []string) error {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return err
		}
		config.QPS, config.Burst = rate, rate
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		ctx := command.Context()
		shared := informers.NewSharedInformerFactory(client, 0)
		controller, err := job.NewController(ctx, client, shared.Core().V1().Pods(), shared.Batch().V1().Jobs(),
			shared.Scheduling().V1alpha2().Workloads(), shared.Scheduling().V1alpha2().PodGroups())
		if err != nil {
			return err
		}
		shared.Start(ctx.Done())
		controller.Run(ctx, workers)
		return nil
	}}
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "how to reach the API server")
	return command
}
