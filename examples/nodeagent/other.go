//go:build !linux

// Command nodeagent applies FlowCon's limits to processes. It runs on Linux only.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "nodeagent: this example runs on Linux only")
	os.Exit(1)
}
