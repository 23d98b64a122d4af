// Package policies holds the schedulers of the papers as policies of package sim.
//
// # What it computes
//
// Where containers are exclusive: [Swarm], static and Dorm's baseline; [Dorm], the optimizer of package
// alloc; [FIFO], [EASY] and [DRF]. The same but Swarm and EASY, and [RRH] and [OASiS], where there are slots and parameter
// servers, and [Deadline], which plans jobs by the values of their deadlines. Where jobs share the CPU of workers: [Default],
// which does nothing, [FlowCon] and [SpeCon].
//
// Which policy is for which world, and when it decides:
//
//	policy	servers	parameter servers	decides
//	Swarm	exclusive	no	at arrivals and completions
//	Dorm	exclusive	with slots	at arrivals and completions
//	FIFO	exclusive	with slots	at arrivals and completions
//	EASY	exclusive	no	at arrivals and completions
//	DRF	exclusive	with slots	at arrivals and completions
//	RRH	exclusive	always, with slots	at arrivals and completions
//	OASiS	exclusive	always, with slots	at arrivals; orders in every slot
//	Deadline	exclusive	always, with slots	in every slot
//	Default	shared	no	at arrivals
//	FlowCon	shared	no	at arrivals, completions and intervals of each worker
//	SpeCon	shared	no	at arrivals, completions and intervals
//
// FIFO, DRF, RRH, Dorm and Deadline share an entry, which refuses who can never run, and a desk, which hands out
// workers together with the parameter servers that serve them; OASiS has the ledger of package primaldual
// for both. FlowCon and SpeCon place new jobs as Default does.
//
// # Notation
//
//	symbol	Go name	unit	where
//	n_i	Job.Fixed	workers	OASiS §5, fixed numbers of workers
//	RPT_i	rewards.remaining	slots	Irwin04
//	V_i(t)	rewards.worth	utility	Irwin04
//	PV_i	rewards.present	utility	Irwin04
//	R_c	meters.read	share	Zheng (4.2)
//
// # Contract
//
// A value serves one run, unless its type says more. Jobs that no number of servers serves are refused
// at their arrival, except by Swarm, where they wait. Round-robin placement puts one container after the
// other on the next server with room; the pointers, one for the servers and one for the parameter
// servers, keep their place between jobs and decisions. The same scenario gives the same orders.
//
// # Deviations
//
//   - OASiS' paper names FIFO, DRF, RRH and Dorm and says little of how they were carried over. Under FIFO
//     and RRH a number of workers that not even the empty cluster holds is reduced to one it does.
//   - RRH: [Irwin04] assumes values that decay at a constant rate. For other utilities decay times delay
//     becomes the exact loss of worth, and a job is admitted if its discounted worth exceeds that loss by
//     more than the threshold, without dividing by a rate that may be 0.
//   - DRF in slots: a job gets no more workers than it has worker-slots left.
//   - Dorm with parameter servers: what does not fit as whole parameter servers costs the job workers, the
//     last ones first.
//   - SpeCon evens out when all jobs have converged, as Zheng §6.2.3 tells, whether or not each was decided
//     on: a job that converges last on its worker never asks for another host.
package policies
