// This file holds the trainers, so that a program without its source can write them where it runs.

// Package trainers holds training jobs in Python: one file for each framework, and what they share.
package trainers

import "embed"

// Files are the trainers by name.
//
//go:embed *.py
var Files embed.FS
