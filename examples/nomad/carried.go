// This file refuses what a user has written of a job and its containers would not have.

package nomad

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/hashicorp/nomad/api"
)

// carried are the parts of a job that its child has from it, that a decision is taken by, or that Nomad writes itself. What a job
// says of update, reschedule and migrate Nomad copies into its groups.
var carried = setOf("job.id job.name job.type job.region job.namespace job.priority job.datacenters job.node_pool job.constraint job.meta job.group",
	"job.update job.reschedule job.migrate",
	"job.Stop job.Status job.StatusDescription job.Stable job.Version job.SubmitTime job.CreateIndex job.ModifyIndex job.JobModifyIndex job.NomadTokenID",
	"group.name group.count group.constraint group.meta group.ephemeral_disk.size group.volume group.task",
	"task.name task.driver task.user task.config task.constraint task.env task.meta task.artifact task.kill_timeout task.volume_mount task.logs task.Identity",
	"task.resources.cpu task.resources.memory task.resources.memory_max task.resources.device.Name task.resources.device.count")

func setOf(lists ...string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(strings.Join(lists, " ")) {
		set[word] = true
	}
	return set
}

// checkCarried returns an error that names what a job with one group and one task has beyond that: anything but what Nomad fills in
// where nothing is written.
func checkCarried(j *api.Job) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	full, err := specOf(text)
	if err != nil {
		return err
	}
	plain := &api.Job{ID: j.ID, Type: j.Type, TaskGroups: []*api.TaskGroup{{Tasks: []*api.Task{{}}}}}
	full.Canonicalize()
	plain.Canonicalize()
	for _, part := range []struct {
		name      string
		got, want any
	}{
		{"job", *full, *plain}, {"group", *full.TaskGroups[0], *plain.TaskGroups[0]},
		{"task", *full.TaskGroups[0].Tasks[0], *plain.TaskGroups[0].Tasks[0]},
	} {
		if field := uncarried(part.name, reflect.ValueOf(part.got), reflect.ValueOf(part.want)); field != "" {
			return fmt.Errorf("it says %s: containers that the controller starts and moves would not have that", field)
		}
	}
	return nil
}

// uncarried returns the path of a field, in the words of a job file, that is not carried and not as it is wanted; "": there is none.
// Nothing at all is a number of 0, an empty text or an empty list, but not an empty block.
func uncarried(path string, got, want reflect.Value) string {
	if carried[path] || reflect.DeepEqual(got.Interface(), want.Interface()) {
		return ""
	}
	switch got.Kind() {
	case reflect.Struct:
		for i := range got.NumField() {
			name, _, _ := strings.Cut(got.Type().Field(i).Tag.Get("hcl"), ",")
			if name == "" {
				name = got.Type().Field(i).Name
			}
			if field := uncarried(path+"."+name, got.Field(i), want.Field(i)); field != "" {
				return field
			}
		}
		return ""
	case reflect.Pointer:
		isBlock := got.Type().Elem().Kind() == reflect.Struct
		if isBlock && (got.IsNil() || want.IsNil()) {
			return path
		}
		return uncarried(path, valueOf(got), valueOf(want))
	case reflect.Slice:
		for i := range got.Len() {
			block := got.Index(i)
			if block.Kind() != reflect.Pointer {
				return path
			}
			if field := uncarried(path, valueOf(block), reflect.Zero(block.Type().Elem())); field != "" {
				return field
			}
		}
		return ""
	case reflect.Map:
		if got.Len() == 0 && want.Len() == 0 {
			return ""
		}
	}
	return path
}

// valueOf is what a pointer points to, or zero.
func valueOf(p reflect.Value) reflect.Value {
	if p.IsNil() {
		return reflect.Zero(p.Type().Elem())
	}
	return p.Elem()
}
