// This program shares a Nomad cluster among elastic training jobs; see ../README.md.
package main

import "github.com/apportion/apportion/examples/nomad"

func main() { nomad.Main() }
