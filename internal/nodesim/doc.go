// Package nodesim simulates workers whose training jobs share the CPU, on virtual time: a policy
// sets limits, chooses workers for new jobs and moves running ones.
//
// # What it computes
//
// [Run] plays a [Scenario] under a [Policy] and returns when each job completed, who used how much
// CPU on which worker at any time, and who was moved. [Default] sets no limits and never moves a
// job; [FlowCon] sets limits on every worker; [SpeCon] moves slow jobs. A job reports the value of
// its evaluation function from a recorded learning curve ([Curve]) as a function of the work done.
//
// # Notation
//
//	symbol       Go name             unit                         where
//	L_c          Task.Limit          Share                        Zheng Algorithm 1
//	R_c          Task.Share          Share                        Zheng (4.2)
//	E_c(t)       Task.Value          the job's own                Zheng §4.1.3
//	w_i          Task.Worker         position                     Zheng §5.2
//	-            Work                Share times time             -
//	-            Scenario.MoveCost   time                         Zheng Fig. 3.2
//	-            Interference        -                            see Deviations
//
// # Contract
//
// Time is an int64 of nanoseconds, a share an int64 of millionths of a worker and work their
// product, so each job does exactly the work that it was submitted with: it completes in the first
// nanosecond in which the work is done. What jobs use together on a worker is exactly the least of
// its capacity and their demands. Completions of one instant come before arrivals, arrivals in the
// order of the scenario, then the policy decides once. The same input gives the same result.
//
// # Deviations
//
// The thesis has no model of a worker; its numbers imply this one. Limits are soft: what is left
// when every job has its limit is shared again, evenly and without regard to limits, which gives
// 25 % and 75 % under limits of 0.25 and 1 (§6.1.3), and half each without limits.
//
// With that alone the makespan of one worker would hardly depend on limits, since all CPU is used
// in any order. The thesis reports makespans 1 % to 5 % shorter where jobs overlap less, so jobs
// that run together must cost something: Interference takes a part of the capacity for each job
// beside the first. It is 0 unless asked for.
//
// A job that moves makes no progress and uses no CPU for MoveCost, which is 5 s in the thesis for
// saving and resuming together. Room is ignored, as the thesis does; requests only order workers.
//
// # References
//
//	[Zheng] W. Zheng. Efficient Resource Management for Deep Learning Applications with Virtual
//	        Containers. Master's thesis.
package nodesim
