// Package scheduler is a plugin for Kubernetes' own scheduler: whose pods are next, gangs, and where a plan has them.
//
// # What it computes
//
// Of two pods that wait, the one with the higher priority is next; of equal ones that of the namespace with the lesser weighted
// dominant share of what is bound now, compared exactly by [drf.Sorter]; then the one that came first. A pod of a gang waits
// until all of the gang have a place, or [Args.Patience] is over. Of the nodes that a pod fits on, those are preferred where the plan of its Job has more
// pods than are there.
//
// # Notation
//
//	Kubernetes                                    here
//	namespace                                     client, its weight an annotation
//	requests of pods that are bound or reserved   held
//	allocatable of all nodes                      total
//	annotation gang of a pod                      how many pods of its owner must have a place together
//	annotation plan of a Job                      {"node": pods}, as package resize writes it
//
// # Contract
//
// The plugin reads informers that the scheduler has, and asks the API server nothing. It depends on the scheduler's framework
// alone. cluster/scheduler is kube-scheduler with the plugin in it; deploy/config.yaml is a profile that enables it, as the only
// plugin of the queue's order, and deploy/rbac.yaml what it needs beyond the rights of Kubernetes' own scheduler.
//
// # Deviations
//
// The scheduler's queue is a heap, which is not put in order anew when shares change: who waits for long may be asked in the
// order of a while ago. Each pod is compared anew when it comes into the queue again.
package scheduler
