// This program is apportion-guard with one more way to claim: -lease NAMESPACE claims by a Lease of Kubernetes, see package lease.
//
//	lease-guard -lease ml -every 5s -record run.json -- python train.py
package main

import (
	"os"

	"github.com/apportion/apportion/examples/kubernetes/lease"
)

func main() { os.Exit(lease.Main(nil, os.Args[1:], os.Stderr)) }
