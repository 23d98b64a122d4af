// Package monitor holds what FlowCon and SpeCon have in common: the set of jobs that a monitor
// watches, and the checks on their settings.
//
// # What it computes
//
// A [Roster] compares the jobs that a monitor is told of with those of the step before, [Zheng]
// Algorithm 2, and holds a state for each, sorted by id.
//
// # References
//
//	[Zheng] W. Zheng. Efficient Resource Management for Deep Learning Applications with Virtual
//	        Containers. Master's thesis.
package monitor
