// This file holds the vectors to the library, to their schema, and to two implementations that are not ours.

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The committed vectors are what the library answers.
func TestVectors(t *testing.T) {
	folder := t.TempDir()
	must.Do(t, run(folder))
	for _, k := range kinds {
		want := must.Have(os.ReadFile(filepath.Join("vectors", k.name+".json")))(t)
		got := must.Have(os.ReadFile(filepath.Join(folder, k.name+".json")))(t)
		old, now := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
		for i := range min(len(old), len(now)) {
			if !bytes.Equal(old[i], now[i]) {
				t.Errorf("%s.json line %d: the library answers\n%s, not\n%s", k.name, i+1, now[i], old[i])
			}
		}
		must.Equal(t, len(old), len(now), k.name, ".json", "lines, now", "go run -C examples/kit .")
	}
}

// enough is how many vectors of each kind there are at least.
var enough = map[string]int{"shares": 60, "decisions": 15, "plans": 20, "lines": 15, "admission": 8, "limits": 6, "orders": 12, "leases": 8, "claims": 12}

func TestSchema(t *testing.T) {
	schema := must.Have(jsonschema.NewCompiler().Compile("schema.json"))(t)
	for _, k := range kinds {
		value := load(t, k.name)
		must.Do(t, schema.Validate(value), k.name)
		if n := len(value["vectors"].([]any)); n < enough[k.name] {
			t.Errorf("%s: only %d vectors", k.name, n)
		}
		// A schema that takes anything says nothing.
		first(value)["output"] = "nothing"
		if schema.Validate(value) == nil {
			t.Errorf("%s: the schema takes a text as an answer", k.name)
		}
	}
}

// load reads a file of vectors.
func load(t *testing.T, kind string) map[string]any {
	t.Helper()
	text := must.Have(os.ReadFile(filepath.Join("vectors", kind+".json")))(t)
	var value map[string]any
	must.Do(t, json.Unmarshal(text, &value))
	return value
}

// first is the first vector of a file.
func first(file map[string]any) map[string]any { return file["vectors"].([]any)[0].(map[string]any) }

// python runs a program of this folder on a folder of vectors; packages is where Python finds more than its own.
func python(t *testing.T, packages, program, vectors string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "python3", program, vectors)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	if packages != "" {
		cmd.Env = append(cmd.Env, "PYTHONPATH="+packages)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// need skips a test without a program or its packages, or fails where they are required.
func need(t *testing.T, required string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	must.Equal(t, os.Getenv(required), "", err)
	t.Skip("NOT TESTED: ", err)
}

// Python's own implementation agrees with all vectors.
func TestPython(t *testing.T) {
	_, err := exec.LookPath("python3")
	need(t, "APPORTION_REQUIRE_PYTHON", err)
	if out, err := python(t, "", "check.py", "vectors"); err != nil || strings.Count(out, "vectors agree") != len(kinds) {
		t.Errorf("%v\n%s", err, out)
	}
}

// highs is where Python finds HiGHS, and an error where it does not.
func highs() (string, error) {
	packages := os.Getenv("APPORTION_HIGHS")
	cmd := exec.Command("python3", "-c", "import highspy")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+packages)
	return packages, cmd.Run()
}

// HiGHS finds the best values of all decisions.
func TestHiGHS(t *testing.T) {
	packages, err := highs()
	need(t, "APPORTION_REQUIRE_HIGHS", err)
	if out, err := python(t, packages, "highs.py", "vectors"); err != nil || !strings.Contains(out, "HiGHS agrees on ") {
		t.Errorf("%v\n%s", err, out)
	}
}

// damages make one answer of each kind wrong by a little.
var damages = map[string]func(output any){
	"shares":    func(o any) { o.([]any)[0].(map[string]any)["containers"] = 1.81 },
	"decisions": func(o any) { o.(map[string]any)["best"] = o.(map[string]any)["best"].(float64) - 1e-4 },
	"plans":     func(o any) { steps := o.([]any); steps[0], steps[1] = steps[1], steps[0] },
	"lines":     func(o any) { o.(map[string]any)["step"] = 121 },
	"admission": func(o any) { d := o.([]any)[0].(map[string]any); d["cost"] = 1.001 * d["cost"].(float64) },
	"limits":    func(o any) { o.([]any)[1].(map[string]any)["next"] = 41 },
	"orders":    func(o any) { o.([]any)[23].(map[string]any)["fence"].(map[string]any)["stopped"] = 9 },
	"leases":    func(o any) { o.([]any)[3] = o.([]any)[3].(float64) + 1 },
	"claims":    func(o any) { s := o.([]any)[39].(map[string]any); s["over"] = append(s["over"].([]any), "9 s1") },
}

// An answer that is wrong by a little is found by both.
func TestDamage(t *testing.T) {
	_, err := exec.LookPath("python3")
	need(t, "APPORTION_REQUIRE_PYTHON", err)
	for _, k := range kinds {
		folder := t.TempDir()
		must.Do(t, os.CopyFS(folder, os.DirFS("vectors")))
		file := load(t, k.name)
		damages[k.name](first(file)["output"])
		text := must.Have(json.Marshal(file))(t)
		must.Do(t, os.WriteFile(filepath.Join(folder, k.name+".json"), text, 0o600))
		want := k.name + ": "
		if out, err := python(t, "", "check.py", folder); err == nil || !strings.Contains(out, "1 failed ['"+first(file)["name"].(string)+"']") {
			t.Errorf("%s%v\n%s", want, err, out)
		}
		packages, missing := highs()
		if k.name != "decisions" || missing != nil {
			continue
		}
		if out, err := python(t, packages, "highs.py", folder); err == nil || !strings.Contains(out, first(file)["name"].(string)+": HiGHS finds") {
			t.Errorf("HiGHS: %v\n%s", err, out)
		}
	}
}
