// This file declares the machine that jobs share.

package node

// Machine is where jobs run.
type Machine struct {
	// CPU is the number of the one that they share.
	CPU int
	// First: on a CPU that others use as well, the jobs go before them, where control groups limit jobs.
	First bool
	// DockerHost is where Docker's daemon listens; empty: where its own command looks.
	DockerHost string
	// Program is a file that needs no shared libraries, which is all that is in Docker's containers:
	// jobs must run it. With the arguments Endless it uses the CPU until it is killed.
	Program string
	Endless []string
}
