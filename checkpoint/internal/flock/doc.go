// Package flock locks files among processes.
//
// # Contract
//
// A lock is the open file's, which the processes inherit that are given it: it goes when the last of them closes it or dies, however that
// is. It holds among processes of one machine, and of several where their file system carries it. Nothing here waits.
package flock
