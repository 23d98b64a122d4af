// This program is a strategy plugin for nomad-autoscaler: it has each job scaled to its part of a decision that was taken
// about all of them; see README.md.
package main

import (
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/nomad-autoscaler/plugins"
)

func main() {
	plugins.Serve(func(hclog.Logger) any { return &strategy{} })
}
