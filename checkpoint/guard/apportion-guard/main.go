// This program guards one run: it is put before the command of a trainer, and takes the run from the environment, see
// package command. Built with -ldflags="-s -w" it has 7 MB.
//
//	apportion-guard -url http://master:7000/lease -token-file /run/token -record run.json -- python train.py
package main

import (
	"os"

	"github.com/apportion/apportion/checkpoint/guard"
)

func main() { os.Exit(guard.Main(nil, os.Args[1:], os.Stderr)) }
