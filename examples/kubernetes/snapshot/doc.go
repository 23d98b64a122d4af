// Package snapshot reads what a Kubernetes cluster holds as what elastic jobs can be decided on: nodes with what others leave
// of them, Jobs with what they ask for, namespaces as queues.
//
// # What it computes
//
// [Reader.View] turns lists of objects, as informers have them, into a [controller.View]. It asks nobody and changes
// nothing.
//
// # Notation
//
//	Kubernetes                              here
//	node                                    server, by its name
//	Job with spec.managedBy = Manager       job "namespace/name"
//	spec.parallelism                        Application.Max
//	pod of such a Job                       container
//	requests, or limits without requests    Application.Demand
//	namespace                               queue, its ceiling the ResourceQuota less what others use of it
//	label queue of a Job                    queue below that of its namespace
//	PriorityClass                           Application.Priority
//	nodeSelector, required node affinity    Application.Requires on labels
//	taint that is not tolerated             Application.Requires: no label "taint KEY=VALUE:EFFECT"
//	cordon, taints of pressure              Server.Cordoned
//	condition Ready that is not True        Server.Down
//	annotation drain, deletion              Server.Draining
//
// Quantities: cpu in thousandths, memory and ephemeral-storage in MiB, pods and extended resources as they are. A demand is
// rounded up, a capacity down.
//
// # Contract
//
// A Job that asks for what cannot be decided on (pod affinity, gates of scheduling, a deadline) is rejected with the reason,
// not decided on as if it had not asked.
//
// # Deviations
//
// A taint with the effect NoSchedule that appears on a node moves those away that do not tolerate it, by a checkpoint;
// Kubernetes' scheduler would let them stay until they are started anew, which a resize is.
package snapshot
