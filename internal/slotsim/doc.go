// Package slotsim plays a stream of training jobs slot by slot under OASiS and under the policies that
// its paper compares it with: FIFO, DRF, RRH and Dorm.
//
// # What it computes
//
// [Run] lets a [Policy] schedule a [Scenario], commits every schedule to a ledger of the cluster, which
// refuses what does not fit, and returns when each job ended and what it was worth. The ledger is
// what [primaldual.Certify] bounds the optimum with.
//
// # Notation
//
//	symbol	Go name	unit	where
//	n_i	Scenario.Workers	workers	[OASiS] §5, fixed numbers of workers
//	W_i	Job.WorkerSlots	worker-slots	[OASiS] (2)
//	z	Job.PSFor	parameter servers	[OASiS] (6)
//	RPT_i	remaining processing time	slots	[Irwin04]
//	V_i(t)	worth if it runs from t to its end	utility	[Irwin04]
//
// # Contract
//
// A job with y workers in a slot earns y worker-slots and ends in the slot in which it has earned
// W_i; its workers stay to the end of that slot. It is worth f_i(end - arrival), and nothing if it
// has not ended by the last slot. A job that one worker and one parameter server could never serve is
// refused. Changes of containers cost nothing, under any policy: that is the model of [OASiS]. The
// same scenario gives the same result.
//
// Policies other than OASiS know a job from its arrival on and decide whenever a job arrives or has
// ended. Round-robin placement puts one container after the other on the next server with room; the
// pointers, one a side, keep their place between jobs and decisions.
//
// # Deviations
//
//   - The paper names FIFO, DRF, RRH and Dorm and says little of how they were carried over. Under
//     FIFO and RRH a number of workers that not even the empty cluster holds is reduced to one it does.
//   - RRH: [Irwin04] assumes values that decay at a constant rate. For other utilities decay times
//     delay becomes the exact loss of worth, and a job is admitted if its discounted worth exceeds that
//     loss by more than the threshold, without dividing by a rate that may be 0.
//   - DRF: the task is one more worker and the parameter server that it needs, if any. A job gets no
//     more workers than it has worker-slots left.
//   - Dorm: a container is a worker with its part b/B of a parameter server, in thousandths, rounded
//     up. [Dorm] knows one sort of server; here each worker server comes with an equal part of all
//     parameter servers. What then does not fit as whole parameter servers costs the job workers, the
//     last ones first. Only the first jobs that wait take part in a decision.
//
// # References
//
//   - [OASiS] Y. Bao, Y. Peng, C. Wu, Z. Li. Online Job Scheduling in Distributed Machine Learning
//     Clusters. INFOCOM 2018.
//   - [Dorm] P. Sun, Y. Wen, N. B. D. Ta, S. Yan. Towards Distributed Machine Learning in Shared
//     Clusters: A Dynamically-Partitioned Approach. 2017.
//   - [Ghodsi11] A. Ghodsi et al. Dominant Resource Fairness. NSDI 2011.
//   - [Irwin04] D. Irwin, L. Grit, J. Chase. Balancing Risk and Reward in a Market-Based Task Service.
//     HPDC 2004.
package slotsim
