// This program shares a YARN cluster among elastic training jobs; see ../README.md.
package main

import "github.com/apportion/apportion/examples/yarn"

func main() { yarn.Main() }
