// Package resize sets how many pods the jobs of other controllers have: stock Indexed Jobs, and custom resources such as
// PyTorchJob, MPIJob, RayCluster and JobSet. It changes one number of an object and nothing else. The object's own controller
// creates and deletes the pods, and the stock scheduler places them.
//
// # What it computes
//
// [Read] turns objects, pods and nodes into an [alloc.Problem] whose Previous is what the pods say, not what was asked for.
// [Changes] turns a decision on it into patches: those that take pods away first, then those that give.
//
// # Notation
//
//	Kubernetes                                 here
//	object with the annotation max             application "resource/namespace/name"
//	annotations min, max, weight, step...      Application.Min, Max, Weight, Step...
//	template of its pods                       Application.Demand, Application.Requires
//	pods of the object that are on a node      Previous
//	what all other pods use                    less capacity
//	[Kind].Counts, [Kind].Suspend              where the number of pods is written, and whether there are any at all
//
// # Contract
//
// A patch holds only for the version of the object that was read: whoever has changed it meanwhile makes it fail, and the next
// decision begins with what is there then. An object that cannot be understood is left alone, with the reason.
//
// # Deviations
//
// Only totals are honoured. The stock scheduler may place pods elsewhere than the decision has them, and the next decision
// starts from where they are; what a job loses when its pods go is what its framework loses, for nobody asks it to save.
package resize
