// Package simtest tests policies for package sim: a caller's own as well as those of the library.
//
// [Run] plays random scenarios of one world under a policy, lets [Check] go over every result with big
// integers and without a look into the simulator, and holds the policy to giving the same answer
// whatever the order in which jobs are listed.
package simtest
