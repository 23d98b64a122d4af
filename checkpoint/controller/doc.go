// Package controller is a scheduler of elastic training jobs that stands beside a cluster manager: it looks at the
// cluster, decides by package alloc who gets how many containers where, and has that carried out by checkpoints.
//
// # What it computes
//
// [Controller.Run] is four loops. One looks at the [Cluster] again and again and tells the checkpoint protocol what has
// changed: servers that have come or are drained, jobs that were submitted or withdrawn. One decides, whenever servers or
// jobs have changed, what all jobs should have, from what they have in fact. The third is a driver, which moves the jobs
// there. The fourth forecasts when the jobs begin that wait, and takes a hundredth of one processor at most: what is known of lengths is
// Application.Ends, and how long the jobs have run that ended since the controller began. What runs is read back from the protocol's own records and never from a plan.
//
// Whoever has a cluster manager implements Cluster: how it looks, and the three calls of [managed.Manager].
//
// Work of others that waits for room is decided on as well, above all jobs: these shrink for it, and it begins by its manager's
// hand. [Waiting] says what a manager tells of it, and waits.count what of that counts.
//
// # Notation
//
//	symbol     Go name                    where
//	A^t        View.Jobs                  the jobs that run or wait
//	theta1     Config.Problem.Theta1      how unfair a decision may be
//	theta2     Config.Problem.Theta2      how many running jobs one decision may move by its own will
//
// # Contract
//
// A controller may be killed at any moment: the next one on the same journal goes on. A journal has one master: a
// controller that was replaced ends with checkpoint.ErrFenced, and the runs that it has started are vouched for by the
// next.
//
// A server that does not look up is not given anything new at once, and its jobs go on elsewhere when nothing can live
// there any more, see package managed.
//
// A job whose runs die by themselves again and again, without a step further than all before, ends as failed, and so does one that
// dies of the signal that asks it to save. What is counted for that is in memory: the next controller begins anew.
package controller
