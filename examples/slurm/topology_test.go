// This file tests what is read of switches.

package slurm

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
)

// topologyShown is what `scontrol show topology` prints of a tree of two levels.
const topologyShown = `SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[1-2]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[3,05-06],login
SwitchName=s2 Level=1 LinkSpeed=1 Nodes=n[1-3,05-06],login Switches=s[0-1]
`

func TestSwitches(t *testing.T) {
	got, err := switchesIn(topologyShown)
	first, second := map[string]string{"0": "s0", "1": "s2"}, map[string]string{"0": "s1", "1": "s2"}
	want := map[string]map[string]string{"n1": first, "n2": first, "n3": second, "n05": second, "n06": second, "login": second}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if got, err := switchesIn("No topology information available\n"); err != nil || len(got) != 0 {
		t.Errorf("without a topology: %v, %v", got, err)
	}
}

func TestHosts(t *testing.T) {
	for list, want := range map[string]string{
		"":                  "",
		"a":                 "a",
		"a,b":               "a b",
		"a[1-3],b":          "a1 a2 a3 b",
		"a[08-11]":          "a08 a09 a10 a11",
		"r[1-2]n[1,3]x,z":   "r1n1x r1n3x r2n1x r2n3x z",
		"a[1":               "no end",
		"a[x]":              "no range",
		"a[3-1]":            "no range",
		"a[1-99999999]":     "no range",
		"a[0-999]b[0-9999]": "more than",
	} {
		got, err := hostsIn(list)
		if text := strings.Join(got, " "); err == nil && text != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want %q", list, text, err, want)
		}
	}
}

// Nodes have labels of their switches where that is asked for, and jobs may ask to be below one.
func TestLookSeesSwitches(t *testing.T) {
	f := newFake(t)
	f.write("topology", topologyShown)
	text := "#!/bin/sh\ncd '" + f.dir + "'\ncase \"$1\" in write) cat script;; show) cat topology;; esac\n"
	must.Do(t, os.WriteFile(filepath.Join(f.dir, "scontrol"), []byte(text), 0o700))
	f.show("jobs", held(fields{"comment": "apportion max=8 within=switch:1 slices=4 slices_within=switch:0 prefer=switch:0"}))
	view, err := f.Look(t.Context())
	if err != nil || view.Servers[0].Labels["switch:0"] != "" {
		t.Fatalf("%+v, %v", view, err)
	}
	app := view.Jobs[0].Application
	if app.Within != "switch:1" || app.Prefer != "switch:0" || !reflect.DeepEqual(app.Slices, &alloc.Slices{Containers: 4, Within: "switch:0"}) {
		t.Errorf("%+v", app)
	}
	f.switches = true
	view, err = f.Look(t.Context())
	if err != nil || view.Servers[0].Labels["switch:0"] != "s0" || view.Servers[0].Labels["switch:1"] != "s2" {
		t.Errorf("%+v, %v", view, err)
	}
	f.write("topology", "SwitchName=s0 Level=0 Nodes=n[1\n")
	if _, err := f.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "no end") {
		t.Errorf("%v", err)
	}
}
