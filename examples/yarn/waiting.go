//go:build unix

// This file reads the containers of others that YARN has no room for, for which elastic jobs make some.

package yarn

import (
	"context"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/controller"
)

// mostPending bounds the containers of one request that are asked for at once.
const mostPending = 100

// waiting are the containers that applications ask for and do not have, each by itself, as YARN grants them. Of the requests of one
// container for a node, its rack and any place the last one counts.
func (y *yarn) waiting(ctx context.Context) ([]controller.Waiting, error) {
	tenants, err := y.manager.tenants(ctx)
	var list []controller.Waiting
	for i := range tenants {
		t := &tenants[i]
		if t.Type == applicationType {
			continue
		}
		for r := range t.Requests {
			request := &t.Requests[r]
			if request.Where != "*" {
				continue
			}
			demand := request.Capability.vector(y.kinds)
			for c := range min(int64(request.Containers), mostPending) {
				list = append(list, controller.Waiting{ID: fmt.Sprintf("%s.%d[%d]", t.ID, r, c), Demand: demand,
					Requires: []apportion.Requirement{{Key: partition, Op: apportion.In, Values: []string{request.Partition}}}})
			}
		}
	}
	return list, err
}
