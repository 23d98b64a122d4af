// Package event decides what one event changes in a cluster that has been decided: a job comes or goes, a server is lost, drained, or back.
//
// # What it computes
//
// A [Cluster] is what runs, with applications that are equal in everything as one group of some members, and servers that are alike as one
// shape. After an event it states the program of package solver anew by groups, repairs the answer that runs where the event has broken it
// or where something is to be gained, and proves how good the result is by prices.
//
//	loss     sum over groups of members with n containers times |delta n - share|           (15)
//	bound    lambda L + sum over shapes and kinds of p C + sum over ceilings and kinds of q limit + sum over groups of members times free(p, q, lambda)
//	free     the most that containers bring at prices p and q less lambda |delta n - share|, over the numbers that one may have
//
// # Notation
//
//	theta1, theta2   Rule.Theta1, Rule.Theta2   parts            budgets (15), (16)
//	p, q, lambda     Prices                     utilization      of one shape, or ceiling, and kind as a whole cluster of it, of a unit of share
//	v, delta, s^     group.app                  parts            package solver, App
//
// # Contract
//
// Nothing is kept by application from one event to the next but where its containers are: shares, values and budgets are computed anew for
// groups, since one server less changes them all. State is a function of the servers and applications in their order, of what runs, and of
// the prices: a cluster built from these decides alike. An event that it does not answer leaves everything as it was.
//
// # Deviations
//
// The bound leaves out (16) and the prices of restarts. It holds without them for all the more allocations, and is close where the state is
// near what it would be without.
package event
