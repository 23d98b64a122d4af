// This file declares what is asked.

package main

import (
	"strings"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// query is what is asked.
type query struct {
	config    clientcmd.ClientConfig
	namespace string
	// settings are those of decisions: kinds and budgets, as the controller has them.
	settings alloc.Problem
	change   change
}

// id is the ID of a Job that is named with its namespace or without.
func (q *query) id(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return snapshot.ID(q.namespace, name)
}

// change is what is supposed to happen: nodes that are drained, manifests of Jobs that come, Jobs that end.
type change struct{ drain, arrive, end []string }
