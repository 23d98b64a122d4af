// This file runs the commands of the README and compares what they print, and compares its tables
// with the schemas.

package main

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
	"github.com/google/go-cmp/cmp"
)

// console matches a block of commands and what they print.
var console = regexp.MustCompile("(?s)```console\n.*?```")

func TestReadmeCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	readme := must.Have(os.ReadFile("README.md"))(t)
	want := console.ReplaceAllStringFunc(string(readme), func(block string) string { return transcript(t, block) })
	switch {
	case want == string(readme):
	case flag.Lookup("rewrite").Value.String() == "true":
		must.Do(t, os.WriteFile("README.md", []byte(want), 0o644))
	default:
		t.Errorf("README.md against what the commands print (-README +now):\n%s", cmp.Diff(string(readme), want))
	}
}

// transcript returns a block of commands with what they print now.
func transcript(t *testing.T, block string) string {
	text := "```console\n"
	for line := range strings.Lines(block) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		out, err := exec.Command("sh", "-c", command).CombinedOutput()
		must.Do(t, err, line, out)
		text += line + strings.TrimSuffix(string(out), "\n") + "\n"
	}
	return text + "```"
}

// TestReadmeFields looks for every field of every schema in a table of the README.
func TestReadmeFields(t *testing.T) {
	readme := must.Have(os.ReadFile("README.md"))(t)
	fields := map[string]bool{}
	for line := range strings.Lines(string(readme)) {
		if strings.HasPrefix(line, "|") || strings.HasPrefix(line, "A reason") || strings.HasPrefix(line, "`kind`") {
			for _, quoted := range regexp.MustCompile("`[^`]*`").FindAllString(line, -1) {
				for name := range strings.FieldsFuncSeq(quoted, func(r rune) bool { return strings.ContainsRune("`[].", r) }) {
					fields[name] = true
				}
			}
		}
	}
	paths, err := filepath.Glob("schema/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal("no schemas", err)
	}
	for _, path := range paths {
		source := must.Have(os.ReadFile(path))(t)
		var value any
		must.Do(t, json.Unmarshal(source, &value), path)
		for _, name := range properties(value) {
			if !fields[name] {
				t.Errorf("%s has the field %q, which no table of the README has", path, name)
			}
		}
	}
}

// properties returns the names of all properties in a schema.
func properties(schema any) []string {
	var names []string
	switch s := schema.(type) {
	case []any:
		for _, element := range s {
			names = append(names, properties(element)...)
		}
	case map[string]any:
		fields, _ := s["properties"].(map[string]any)
		names = slices.AppendSeq(names, maps.Keys(fields))
		for _, element := range s {
			names = append(names, properties(element)...)
		}
	}
	return names
}
