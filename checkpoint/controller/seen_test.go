// This file tests what a controller keeps of its looks.

package controller

import (
	"encoding/json"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
)

// A job that a look misses may be on its way to other servers, and is started there as what it was. The newest word counts,
// and a server that is gone is not up.
func TestSeen(t *testing.T) {
	c := &Controller{specs: map[string]json.RawMessage{}}
	job := func(id, spec string) Job {
		return Job{Application: alloc.Application{ID: id}, Spec: json.RawMessage(spec)}
	}
	servers := []Server{{Server: apportion.Server{ID: "n1"}}, {Server: apportion.Server{ID: "n2"}, Down: "no heartbeat"}}
	c.see(&View{Servers: servers, Jobs: []Job{job("a", "1"), job("b", "2")}})
	c.see(&View{Servers: servers[1:], Jobs: []Job{job("b", "3")}})
	for id, want := range map[string]string{"a": "1", "b": "3", "c": ""} {
		must.Equal(t, string(c.spec(id)), want, "job", id, "runs")
	}
	for id, want := range map[string]string{"n1": "it is not in the cluster any more", "n2": "no heartbeat"} {
		if err := c.up(id); err == nil || err.Error() != want {
			t.Errorf("server %s: %v, want %q", id, err, want)
		}
	}
	c.see(&View{Servers: servers})
	must.Do(t, c.up("n1"), "server n1")
}
