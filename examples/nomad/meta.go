// This file reads what a Nomad job says about itself: an elastic job is one with the meta key apportion.max.

package nomad

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
)

// kinds are the kinds of resources: CPU in MHz, memory in MB, and devices of the type gpu.
var kinds = apportion.Kinds{"cpu", "memory", "gpu"}

// metaPrefix begins the meta keys that are for the controller.
const metaPrefix = "apportion."

// isElastic reports whether a job is for the controller.
func isElastic(meta map[string]string) bool { return meta[metaPrefix+"max"] != "" }

// jobOf reads an elastic job. The error says what of it cannot be done. One that is advised runs by itself: its count and
// its driver are nobody else's.
func jobOf(j *api.Job, advised bool) (controller.Job, error) {
	app := alloc.Application{ID: *j.ID, Weight: 1, Form: alloc.Form{Min: 1}, Priority: int64(value(j.Priority))}
	if len(j.TaskGroups) != 1 || len(j.TaskGroups[0].Tasks) != 1 {
		return controller.Job{}, fmt.Errorf("it has %d groups: one with one task is what can be resized", len(j.TaskGroups))
	}
	group := j.TaskGroups[0]
	if !advised {
		if err := checkGuarded(j); err != nil {
			return controller.Job{}, err
		}
	}
	app.Demand = demandOf(group)
	if _, err := readMeta(&app, j.Meta); err != nil {
		return controller.Job{}, err
	}
	requires, err := requirementsOf(j)
	if err != nil {
		return controller.Job{}, err
	}
	app.Requires = requires
	spec, err := json.Marshal(j)
	return controller.Job{Application: app, Spec: spec}, err
}

// checkGuarded returns an error that says why a job with one group and one task cannot be started by the controller.
func checkGuarded(j *api.Job) error {
	group := j.TaskGroups[0]
	if kind := value(j.Type); kind != "" && kind != api.JobTypeService && kind != api.JobTypeBatch {
		return fmt.Errorf("its type is %q: service and batch jobs have a number of containers", kind)
	}
	if n := value(group.Count); n != 0 {
		return fmt.Errorf("its group has count = %d: 0 leaves the number to the controller", n)
	}
	if driver := group.Tasks[0].Driver; driver != "raw_exec" && driver != "exec" {
		return fmt.Errorf("its driver is %q: raw_exec and exec have a command that can be guarded", driver)
	}
	if r := group.Tasks[0].Resources; r != nil {
		for _, device := range r.Devices {
			if typeOf(device.Name) != "gpu" {
				return fmt.Errorf("it demands the device %q: gpu is the type that is counted", device.Name)
			}
		}
	}
	for name, v := range group.Volumes {
		if v.Type != hostVolume {
			return fmt.Errorf("volume %q is of type %q: a node's own can be decided by", name, v.Type)
		}
	}
	if _, err := userOf(group.Tasks[0]); err != nil {
		return err
	}
	return checkCarried(j)
}

// value is what p points to, or zero.
func value[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

// readMeta reads the meta keys of an application, and returns the signal that asks its trainers to save.
func readMeta(app *alloc.Application, meta map[string]string) (saveSignal string, err error) {
	declared := map[string]string{}
	for key, text := range meta {
		if name, ours := strings.CutPrefix(key, metaPrefix); ours {
			declared[name] = text
		}
	}
	saveSignal, err = controller.Declare(app, declared)
	if err != nil {
		return "", fmt.Errorf("meta %s%w", metaPrefix, err)
	}
	return saveSignal, nil
}

// demandOf is what one container of a group takes.
func demandOf(group *api.TaskGroup) apportion.Resources {
	demand := make(apportion.Resources, len(kinds))
	for _, task := range group.Tasks {
		r := task.Resources
		if r == nil {
			continue
		}
		demand[0] += int64(value(r.CPU))
		demand[1] += int64(value(r.MemoryMB))
		for _, device := range r.Devices {
			if typeOf(device.Name) == "gpu" {
				count := uint64(1)
				if device.Count != nil {
					count = *device.Count
				}
				demand[2] += int64(min(count, math.MaxInt32))
			}
		}
	}
	return demand
}

// typeOf is the type in the name of a device, which is type, vendor/type or vendor/type/name.
func typeOf(device string) string {
	parts := strings.Split(device, "/")
	if len(parts) == 1 {
		return parts[0]
	}
	return parts[1]
}

// requirementsOf turns data centers, the node pool, the constraints of a job and its group, and the nodes' volumes into requirements
// on labels, see labelsOf.
func requirementsOf(j *api.Job) ([]apportion.Requirement, error) {
	var list []apportion.Requirement
	// A star matches more than a list of names can say.
	if len(j.Datacenters) > 0 && !strings.Contains(strings.Join(j.Datacenters, ","), "*") {
		list = append(list, apportion.Requirement{Key: "node.datacenter", Op: apportion.In, Values: j.Datacenters})
	}
	if pool := value(j.NodePool); pool != "" && pool != "all" {
		list = append(list, apportion.Requirement{Key: "node.pool", Op: apportion.In, Values: []string{pool}})
	}
	group := j.TaskGroups[0]
	for _, constraints := range [][]*api.Constraint{j.Constraints, group.Constraints, group.Tasks[0].Constraints} {
		for _, c := range constraints {
			r, err := requirementOf(c)
			if err != nil {
				return nil, err
			}
			list = append(list, r)
		}
	}
	for _, v := range group.Volumes {
		if v.Type == hostVolume {
			list = append(list, apportion.Requirement{Key: volumeLabel + v.Source, Op: apportion.Exists})
		}
	}
	return list, nil
}

// requirementOf turns a constraint into a requirement.
func requirementOf(c *api.Constraint) (apportion.Requirement, error) {
	inner, isVariable := strings.CutPrefix(c.LTarget, "${")
	key, closed := strings.CutSuffix(inner, "}")
	if !isVariable || !closed {
		return apportion.Requirement{}, fmt.Errorf("constraint on %q: a variable of the node, as ${node.class}, can be decided by", c.LTarget)
	}
	r := apportion.Requirement{Key: key, Values: []string{c.RTarget}}
	switch c.Operand {
	case "", "=", "==", "is":
		r.Op = apportion.In
	case "!=", "not":
		r.Op = apportion.NotIn
	case "set_contains_any":
		r.Op, r.Values = apportion.In, strings.Split(c.RTarget, ",")
	case "is_set":
		r.Op, r.Values = apportion.Exists, nil
	case "is_not_set":
		r.Op, r.Values = apportion.NotExists, nil
	default:
		return r, fmt.Errorf("constraint on %q: the operator %q cannot be decided by", c.LTarget, c.Operand)
	}
	return r, nil
}
