// This program shares a Slurm cluster among elastic training jobs, and submits them; see ../README.md.
package main

import "github.com/apportion/apportion/examples/slurm"

func main() { slurm.Main() }
