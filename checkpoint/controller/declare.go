// This file implements Declare: what a user says of an elastic job by labels, metadata or words of a comment.

package controller

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion/alloc"
)

// Declare sets what a user has declared of an application by keys and their texts: min, max, step, per_server, max_servers, priority and
// adjust_cost are integers, weight is a float, preemptible a bool, within and prefer are labels of the controller's topology, slices is how
// many containers a slice has and slices_within the label of its domains, and save_signal names the signal that asks a trainer to save, USR1,
// USR2 or HUP with or without SIG, which is returned without. A key may have dashes in
// place of the underscores. What is not declared stays as it is. An error names the first key, in the
// order of names, that is not known or has a text that is none of its kind; whether values fit the program is for alloc's Validate.
func Declare(app *alloc.Application, declared map[string]string) (saveSignal string, err error) {
	numbers := map[string]*int64{"min": &app.Min, "max": &app.Max, "step": &app.Step, "per_server": &app.PerServer,
		"max_servers": &app.MaxServers, "priority": &app.Priority}
	for _, key := range slices.Sorted(maps.Keys(declared)) {
		name, text := strings.ReplaceAll(key, "-", "_"), declared[key]
		to, isNumber := numbers[name]
		switch {
		case isNumber:
			*to, err = strconv.ParseInt(text, 10, 64)
		case name == "weight":
			app.Weight, err = strconv.ParseFloat(text, 64)
		case name == "adjust_cost":
			app.AdjustCost = new(int64)
			*app.AdjustCost, err = strconv.ParseInt(text, 10, 64)
		case name == "within":
			app.Within = text
		case name == "prefer":
			app.Prefer = text
		case name == "slices":
			slicesOf(app).Containers, err = strconv.ParseInt(text, 10, 64)
		case name == "slices_within":
			slicesOf(app).Within = text
		case name == "preemptible":
			app.Preemptible, err = strconv.ParseBool(text)
		case name == "save_signal":
			saveSignal, err = signalName(text)
		default:
			err = errors.New("this key is not known")
		}
		if err != nil {
			return "", fmt.Errorf("%s = %q: %w", key, text, err)
		}
	}
	return saveSignal, nil
}

// slicesOf returns the slices of an application, which it has from then on.
func slicesOf(app *alloc.Application) *alloc.Slices {
	app.Slices = cmp.Or(app.Slices, &alloc.Slices{})
	return app.Slices
}

// signalName returns the name of a signal as a guard takes it. Other signals end a process that does not expect them.
func signalName(text string) (string, error) {
	switch name := strings.TrimPrefix(text, "SIG"); name {
	case "", "USR1", "USR2", "HUP":
		return name, nil
	}
	return "", errors.New("USR1, USR2 or HUP ask a job to save")
}
