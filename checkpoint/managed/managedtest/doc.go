// Package managedtest has a cluster manager in memory, for tests of what stands on package managed.
package managedtest
