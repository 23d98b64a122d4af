// This file embeds measured step times and throughputs, for the studies that play with them.

// Package measured holds measured training speeds: see data/NOTICE.md for where they come from.
package measured

import (
	"bytes"
	_ "embed"
	"iter"

	"github.com/apportion/apportion/examples/internal/trace"
)

// The files are packed; data/NOTICE.md says who measured what.
var (
	//go:embed data/pollux_placements.csv.gz
	placements []byte
	//go:embed data/pollux_scalability.csv.gz
	scalability []byte
	//go:embed data/gavel_throughputs.csv
	throughputs []byte
)

// Placements returns seconds a step by placement: three models on 1 to 16 GPUs of up to 4 servers.
func Placements() iter.Seq2[trace.StepTime, error] {
	return trace.Placements("pollux_placements.csv.gz", bytes.NewReader(placements))
}

// Scalability returns seconds a step by numbers of servers and GPUs: the same models on up to 64 GPUs of 16 servers.
func Scalability() iter.Seq2[trace.StepTime, error] {
	return trace.Scalability("pollux_scalability.csv.gz", bytes.NewReader(scalability))
}

// Throughputs returns steps a second by accelerator, type of job and number of GPUs.
func Throughputs() iter.Seq2[trace.Throughput, error] {
	return trace.Throughputs("gavel_throughputs.csv", bytes.NewReader(throughputs))
}
