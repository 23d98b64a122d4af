// Package managers makes a problem of what a cluster manager prints of itself: a dry run on one's own cluster, with nothing installed there.
//
// [Read] takes JSON documents one behind the other and tells by their fields whose they are:
//
//	Slurm       squeue --json, sinfo --json or scontrol show nodes --json
//	Kubernetes  kubectl get nodes,pods,jobs -A -o json
//	Nomad       /v1/nodes?resources=true, /v1/allocations?resources=true, /v1/job/NAME of each job
//	YARN        /ws/v1/cluster/nodes, /ws/v1/cluster/apps
//
// Work that a manager runs or holds for later becomes applications with as many containers as it asks for. What is not in pieces that
// could stand elsewhere takes its room where it is. Nothing is guessed: what cannot be said in a problem is left out of it, and listed.
package managers
