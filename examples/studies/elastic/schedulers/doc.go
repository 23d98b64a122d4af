// Package schedulers holds schedulers of jobs that can train on any number of accelerators, as policies of package sim: one
// container is one accelerator, and how fast a job is depends on how many it has, of which type, and on how many
// servers (sim.Job.SpeedOn).
//
// # What it computes
//
//	policy	containers of a job	decides	knows
//	Static	as submitted	when somebody comes or goes	nothing
//	Tiresias	as submitted	and when a job has attained enough	attained service
//	Gavel	as submitted	in rounds	speeds by type
//	Optimus	any	when somebody comes or goes	speeds, and what is left
//	Sia	powers of two, whole servers	when somebody comes or goes	speeds by type and number
//	Dorm	any up to n_max	when somebody comes or goes	nothing, or speeds for n_max
//	Worth	up to a server, whole servers	when somebody comes or goes	speeds, attained service, restarts
//
// [Measure] says how a run went. All policies know the true speeds, on as few servers as possible; how well these can be
// learned is the question of package speedup.
//
// # Types of servers
//
// Servers with other labels [Accelerator] are of other types; a job runs on one type at a time. Dorm chooses a type for each
// job, one after the other, and leaves the number, and the servers, to package alloc. Worth states an alloc.Option for each
// type, and leaves all three to it; the others decide themselves.
//
// # Notation
//
//	symbol	Go name	unit	where
//	T_i(n)	record.speeds	parts of one container's	Peng18 §3.2, Qiao21 §3.2
//	W_i	record.service	container seconds	Gu19 §4.1
//	X_mj	Gavel.parts	parts of the time	Narayanan20 §4.1
//	rho	Measures.Rho	ratio	Mahajan20 (1)
//
// # Contract
//
// A value serves one run. The same scenario gives the same orders. A job of which no type holds its containers waits for
// ever. Errors are those of a speed that is none, and of the solvers; nothing reads a clock.
//
// # Deviations
//
//   - Tiresias has no promotion of jobs that starve, and knows no placement by profile: all jobs are packed.
//   - Optimus has no parameter servers. It takes the best mean of any number of further containers for the next step,
//     where the paper looks at one: a second server costs more than the first container on it brings.
//   - Gavel's rounds follow the program by what a job is behind on a type in its life. Jobs share no accelerator.
//   - Sia decides when somebody comes or goes, where the paper has rounds of a minute, and knows speeds where it learns them.
//   - Worth does not charge the first growth of a job to the budget (16), unless ChargeGrowth says so. Dorm does: without
//     a price of restarts, which Worth has, that costs it more than it brings.
//   - Worth and Dorm end their search at a gap of a part in a thousand.
package schedulers
