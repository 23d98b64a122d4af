// This program shares a Kubernetes cluster among elastic training jobs; see ../README.md.
package main

import "github.com/apportion/apportion/examples/kubernetes"

func main() { kubernetes.Main() }
