// This file tests the file of flags: what is read, what is refused and where, and what its schema says.

package daemon

import (
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/internal/must"
)

func inFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "c.json")
	must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestConfig(t *testing.T) {
	p, _ := on(nil)
	name := inFile(t, `{
		"shared": "/s",
		"theta1": 0.5, "max-deaths": 3,
		"reserve": "gpu=2", "min-run": "5m", "dry-run": false
	}`)
	s, err := p.parse([]string{"-config", name, "-min-run", "7m"}, io.Discard)
	if err != nil || s.shared != "/s" || s.theta1 != 0.5 || s.deaths != 3 || s.minRun != 7*time.Minute || s.reserve[0].Headroom[0] != (controller.Headroom{Amount: 2}) || s.private != "/s/master" {
		t.Errorf("%+v, %v", s, err)
	}
	for text, want := range map[string]string{
		"":                                      ":1: ",
		"{":                                     ":1: the object does not end",
		"[]":                                    ":1: it is to be an object",
		"{\n\"theta1\": 0.5,\n\"thta2\": 1}":    `:3: "thta2" is no flag`,
		"{\n\n\"min-run\": \"soon\"}":           `:3: "min-run": `,
		"{\n\"shared\": [\"/s\"]}":              `:2: "shared" is to be a string`,
		"{\n\"shared\": null}":                  `:2: "shared" is to be a string`,
		"{\"look\": \"1s\",\n\"look\": \"1s\"}": `:2: "look" is there twice`,
		"{\n\"look\": \"1s\"\n\"save\": 1}":     ":3: invalid character",
		"{}\n{}":                                ":2: there is something behind the object",
		"{\"config\": \"x\"}":                   `"config" is no flag`,
	} {
		name := inFile(t, text)
		if _, err := p.parse([]string{"-shared", "/s", "-config", name}, io.Discard); err == nil || !strings.HasPrefix(err.Error(), name) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	must.Fail(p.parse([]string{"-shared", "/s", "-config", "/nowhere"}, io.Discard))(t, os.ErrNotExist)
}

// The schema has every flag but the two about it, and all defaults are a configuration that is accepted.
func TestSchema(t *testing.T) {
	p, _ := on(nil)
	p.Flags = func(flags *flag.FlagSet) { flags.Bool("own", true, "a flag of the manager") }
	var text strings.Builder
	must.Do(t, p.Run(t.Context(), []string{"-schema"}, &text, io.Discard))
	var schema struct {
		Additional bool `json:"additionalProperties"`
		Properties map[string]struct {
			Type        string
			Description string
			Default     any
		}
	}
	if err := json.Unmarshal([]byte(text.String()), &schema); err != nil || schema.Additional {
		t.Fatalf("%v: %s", err, text.String())
	}
	defaults := map[string]any{}
	for name, property := range schema.Properties {
		if defaults[name] = property.Default; property.Default == nil {
			delete(defaults, name) // a flag without a value of its own
		}
		if property.Description == "" || map[string]string{"theta1": "number", "own": "boolean", "max-deaths": "integer", "look": "string"}[name] != property.Type && (name == "theta1" || name == "own") {
			t.Errorf("%s: %+v", name, property)
		}
	}
	for _, name := range []string{"theta1", "own", "max-deaths", "look", "reserve", "waiting-priority"} {
		if _, there := schema.Properties[name]; !there {
			t.Errorf("%s is not in the schema", name)
		}
	}
	config, err := json.Marshal(defaults)
	if err == nil {
		_, err = p.parse([]string{"-shared", "/s", "-config", inFile(t, string(config))}, io.Discard)
	}
	if err != nil || len(defaults) < 20 {
		t.Errorf("%d defaults: %v", len(defaults), err)
	}
}
