//go:build !linux

// This file stands in for the lock of a state file where there is none.

package main

// lockFile locks nothing.
func lockFile(string) (release func(), free bool, err error) { return func() {}, true, nil }
