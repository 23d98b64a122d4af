//go:build !unix

// This file stands in for the flags of a file where there are none.

package main

// plain is no flag.
const plain = 0
