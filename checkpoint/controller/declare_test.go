// This file tests what users declare of jobs.

package controller_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
)

func TestDeclare(t *testing.T) {
	app := alloc.Application{ID: "lr", Weight: 1, Form: alloc.Form{Min: 1}}
	save, err := controller.Declare(&app, map[string]string{"min": "2", "max": "16", "step": "2", "per_server": "4", "max-servers": "3", "priority": "-1",
		"weight": "0.5", "adjust_cost": "7", "within": "zone", "prefer": "rack", "slices": "4", "slices-within": "rack", "preemptible": "true", "save_signal": "SIGUSR1"})
	cost := int64(7)
	want := alloc.Application{ID: "lr", Weight: 0.5, Form: alloc.Form{Min: 2, Max: 16, Step: 2}, PerServer: 4, MaxServers: 3, Priority: -1, AdjustCost: &cost, Preemptible: true,
		Within: "zone", Prefer: "rack", Slices: &alloc.Slices{Containers: 4, Within: "rack"}}
	if diff := cmp.Diff(want, app); err != nil || save != "USR1" || diff != "" {
		t.Errorf("%q, %v\n%s", save, err, diff)
	}
	if save, err := controller.Declare(&app, nil); err != nil || save != "" || cmp.Diff(want, app) != "" {
		t.Errorf("nothing is declared: %q, %v, %+v", save, err, app)
	}
	for key, text := range map[string]string{"min": "two", "weight": "", "preemptible": "perhaps", "adjust_cost": "1.5", "save_signal": "KILL", "slices": "many", "maximum": "1"} {
		if _, err := controller.Declare(&app, map[string]string{key: text}); err == nil || !strings.Contains(err.Error(), key+` = "`+text) {
			t.Errorf("%s=%s: %v", key, text, err)
		}
	}
}
