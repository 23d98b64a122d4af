// This file reads the REST answers of a YARN resource manager.

package managers

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/apportion/apportion"
)

// yarn gathers nodes and applications. YARN does not say there which containers of whom stand where, so that all that runs takes its room.
type yarn struct {
	nodes []yarnNode
	apps  []yarnApp
}

type yarnNode struct {
	ID     string      `json:"id"`
	State  string      `json:"state"`
	MB     int64       `json:"availMemoryMB"`
	Cores  int64       `json:"availableVirtualCores"`
	More   yarnAmounts `json:"availableResource"`
	Labels []string    `json:"nodeLabels"`
}

// yarnAmounts has what is neither memory nor processors, and these under other names.
type yarnAmounts struct {
	All struct {
		List []struct {
			Name  string      `json:"name"`
			Value json.Number `json:"value"` // in quotes in some places
		} `json:"resourceInformation"`
	} `json:"resourceInformations"`
}

// with adds them to an amount of memory and of processors.
func (a *yarnAmounts) with(mb, cores int64) map[string]int64 {
	all := map[string]int64{"vcores": cores, "memory": mb}
	for _, one := range a.All.List {
		if n, err := one.Value.Int64(); err == nil && one.Name != "memory-mb" && one.Name != "vcores" {
			all[one.Name] = n
		}
	}
	return all
}

type yarnApp struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	Priority int64  `json:"priority"`
	Requests []struct {
		Count      int64  `json:"numContainers"`
		Where      string `json:"resourceName"`
		Label      string `json:"nodeLabelExpression"`
		Capability struct {
			MB    int64 `json:"memory"`
			Cores int64 `json:"vCores"`
			yarnAmounts
		} `json:"capability"`
	} `json:"resourceRequests"`
}

func (y *yarn) take(document json.RawMessage) (bool, error) {
	var answer struct {
		Nodes *struct {
			Node []yarnNode `json:"node"`
		} `json:"nodes"`
		Apps *struct {
			App []yarnApp `json:"app"`
		} `json:"apps"`
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(document, &fields) != nil || len(fields) != 1 || fields["nodes"] == nil && fields["apps"] == nil {
		return false, nil
	}
	if err := json.Unmarshal(document, &answer); err != nil {
		return true, err
	}
	// An empty list is null there.
	if answer.Nodes != nil {
		y.nodes = append(y.nodes, answer.Nodes.Node...)
	}
	if answer.Apps != nil {
		y.apps = append(y.apps, answer.Apps.App...)
	}
	return true, nil
}

func (y *yarn) end(c *cluster) {
	known := make(map[string]bool)
	for _, n := range y.nodes {
		if n.State != "RUNNING" && n.State != "DECOMMISSIONING" {
			c.leaveOut("node", n.ID, "it is %s", n.State)
			continue
		}
		labels := make(map[string]string)
		for _, label := range n.Labels {
			labels["label:"+label], known["label:"+label] = "", true
		}
		c.servers[n.ID] = &server{has: n.More.with(max(0, n.MB), max(0, n.Cores)), labels: labels, cordoned: n.State == "DECOMMISSIONING"}
	}
	for n := range y.apps {
		y.app(c, &y.apps[n], slices.Sorted(maps.Keys(known)))
	}
}

// app adds what an application still asks for, each size by itself. What asks for no label stays on nodes without any: whether it may
// stand on others is not in the answers.
func (y *yarn) app(c *cluster, a *yarnApp, labels []string) {
	if a.State != "RUNNING" && a.State != "ACCEPTED" && a.State != "SUBMITTED" {
		return
	}
	asks := 0
	for n, r := range a.Requests {
		// Requests for a rack or a node are parts of those for anywhere.
		if r.Count < 1 || r.Where != "*" {
			continue
		}
		asks++
		w := work{id: fmt.Sprintf("%s/%d", a.ID, n), count: r.Count, priority: a.Priority,
			demand: r.Capability.with(r.Capability.MB, r.Capability.Cores)}
		if r.Label != "" && r.Label != "<DEFAULT_PARTITION>" {
			w.requires = []apportion.Requirement{{Key: "label:" + r.Label, Op: apportion.Exists}}
		} else {
			for _, label := range labels {
				w.requires = append(w.requires, apportion.Requirement{Key: label, Op: apportion.NotExists})
			}
		}
		c.work = append(c.work, w)
	}
	if asks == 0 && a.State != "RUNNING" {
		c.leaveOut("application", a.ID, "it is %s, and what it asks for is not in the answer", a.State)
	}
}
