// This file holds the JSON form of results, which scripts may read.

package sim_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
)

const wantJSON = `{"policy":"script","jobs":[` +
	`{"id":"a","arrival_ns":0,"started":true,"completed":true,"start_ns":0,"completion_ns":10,"adjusted":1,"paused_ns":2,"worth":0,"spans":[` +
	`{"from_ns":0,"until_ns":4,"places":[{"server":0,"count":1}],"rate":1000000},` +
	`{"from_ns":4,"until_ns":6,"places":[{"server":0,"count":2}],"rate":0,"why":"more"},` +
	`{"from_ns":6,"until_ns":10,"places":[{"server":0,"count":2}],"rate":2000000,"why":"more"}]},` +
	`{"id":"b","arrival_ns":0,"refused":true,"start_ns":0,"completion_ns":0,"adjusted":0,"paused_ns":0,"worth":0}],"samples":[` +
	`{"at_ns":0,"utilization":[0.5],"total":0.5,"fairness_loss":0.5,"running_loss":0.5,"adjusted":0,"running":1,"waiting":0},` +
	`{"at_ns":4,"utilization":[1],"total":1,"fairness_loss":0,"running_loss":0,"adjusted":1,"running":1,"waiting":0},` +
	`{"at_ns":10,"utilization":[0],"total":0,"fairness_loss":0,"running_loss":0,"adjusted":0,"running":0,"waiting":0}],"end_ns":10}`

func TestJSON(t *testing.T) {
	s := onServers([]sim.Job{elastic("a", 0, 12), elastic("b", 0, 1)}, 2)
	s.AdjustCost = 2
	first, second := place("a", 0, 1), place("a", 0, 2)
	first.Refused, first.Next, second.Places[0].Why = []string{"b"}, 4, "more"
	r := run(t, s, &script{orders: []sim.Orders{first, second}})
	text := must.Have(json.Marshal(r))(t)
	must.Equal(t, cmp.Diff(wantJSON, string(text)), "")
}
