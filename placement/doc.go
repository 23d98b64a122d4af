// Package placement decides where jobs go: SpeCon's choice of a host for a job that grows slowly,
// its rebalancing of converged containers, and the packing rules that other schedulers use.
//
// # What it computes
//
// [ChooseHost] is Algorithm 4 over the scores of [Weights.Score]; [Rebalance] is Algorithm 5; a
// [Packer] places containers by first fit, best fit, round robin, price or spread. All of them look
// at room: what does not fit is not placed, and a gang is placed as a whole or not at all.
//
// # Notation
//
//	symbol            Go name                 unit          where
//	S_w               Weights.Score           1/ScoreUnit   Zheng Algorithm 4, line 3
//	w_pc, w_wc, w_cc  Weights                 1/ScoreUnit   Zheng §6.2.1
//	|PC|, |WC|, |CC|  Counts                  containers    Zheng Algorithm 4, line 3
//	R(w, t)           Worker.Usage            any           Zheng Algorithm 4, line 18
//	T                 HostReason              -             Zheng Algorithm 4
//	migrated          Host.Decided            -             Zheng Algorithm 4
//	bf                RebalancePlan.Factor    containers    Zheng Algorithm 5, line 9
//	d_c               Now - Active.Since      time          Zheng Algorithm 5, line 5
//	rebalanced        Active.Rebalanced       -             Zheng Algorithm 5, line 16
//
// # Contract
//
// Quantities and scores are exact integers. Inputs are read, never changed and never kept; results
// are the caller's. Ties go to the first server or worker of the list, among containers to the
// least id. That nothing fits or nothing need move is a result; errors are bad input, all faults
// at once. Whole jobs and gangs are one Active each in a rebalancing, with the sum of the demands.
//
// # Deviations
//
//   - The thesis ignores room. Here a worker without room is no candidate, unless IgnoreRoom; a
//     job that stays for that reason alone is not marked, so that it may ask again.
//   - Algorithm 4, lines 8-21 stand inside a loop over workers; here they run once. The score of
//     the job's own worker counts the job, as the example of §6.2.3 does.
//   - Algorithm 5 computes bf inside a loop; here of the sum. It moves one container to each idle
//     worker ("if"), the example of §6.2.3 four; here as many as are missing. Line 27 tests the
//     wrong worker, and the same container goes to several; lines 23-31 are read as the first branch
//     with bf - 1 for bf. "rebalanced" is set and never read; here it moves a container once. A
//     worker gives only while it keeps at least as many as the taker has then. The branches are
//     repeated until nothing moves, so that the plan is a fixed point. RebalanceOptions.Literal is
//     the listing.
//   - bf = 0 where there are fewer containers than workers, so nothing moves, as printed;
//     RebalanceOptions.Ceiling rounds up.
package placement
