// Package kubetest runs a real Kubernetes control plane on the loopback for tests, with kubelets that are made here: their
// containers are processes of this machine.
//
// # What it does
//
// [New] starts etcd and kube-apiserver, from the one binary that `make kubernetes` builds, or from the folder
// KUBEBUILDER_ASSETS, as other projects have it. Each can be killed and started again. [Cluster.NewKubelets] plays the
// kubelets of all nodes. [Cluster.NewProxy] stands between a program and the API server: it counts requests, refuses some or
// loses their answers, and cuts watches.
//
// # Contract
//
// A kubelet refuses what does not fit on its node, since the API server does not look; a test asks [Kubelets.Refused]. It
// gives a pod a terminal phase before it takes it away. One that is stopped does nothing and leaves its processes alone; when
// it is started again it finds them, and does what was missed.
//
// # Limits
//
// Of a pod only the first container is run, by its command and its environment, with annotations and the node by the downward
// API. Volumes, images and probes are not looked at. Nobody collects the pods of Jobs that are gone, and nobody keeps nodes ready but the test.
package kubetest
