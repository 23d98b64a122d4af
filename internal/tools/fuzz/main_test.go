// This file tests the reading of what go test prints, and a run over a module made for it.

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTargets(t *testing.T) {
	list := `FuzzParse
FuzzRead
ok  	example.org/m/a	0.004s
ok  	example.org/m/b	0.002s
?   	example.org/m/c	[no test files]
FuzzParse
ok  	example.org/m/d	0.004s
`
	want := []target{{"example.org/m/a", "FuzzParse"}, {"example.org/m/a", "FuzzRead"}, {"example.org/m/d", "FuzzParse"}}
	if got := targets([]byte(list)); !slices.Equal(got, want) {
		t.Errorf("targets = %v, want %v", got, want)
	}
}

func TestIsDeadlineRace(t *testing.T) {
	const race = "fuzz: elapsed: 3s, execs: 40304 (0/sec)\n--- FAIL: FuzzA (3.20s)\n    context deadline exceeded\nFAIL\nexit status 1\n"
	for _, test := range []struct {
		name, out string
		want      bool
	}{
		{"race", race, true},
		{"failing input", strings.Replace(race, "FAIL\n", "    Failing input written to testdata/fuzz/FuzzA/0\nFAIL\n", 1), false},
		{"the target's own deadline", strings.Replace(race, "context", "    a_test.go:9: solve: context", 1), false},
		{"more than the deadline", strings.Replace(race, "exceeded\n", "exceeded\n    a_test.go:9: wrong\n", 1), false},
		{"panic", "--- FAIL: FuzzA (0.00s)\npanic: index out of range\n", false},
		{"does not build", "./a.go:3: undefined: x\nFAIL\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := isDeadlineRace([]byte(test.out)); got != test.want {
				t.Errorf("isDeadlineRace = %v, want %v", got, test.want)
			}
		})
	}
}

// TestRun fuzzes one target that holds and one that does not.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two modules")
	}
	const source = `package m

import "testing"

func FuzzLength(f *testing.F) {
	f.Add("a")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) LIMIT {
			t.Error("length", len(s))
		}
	})
}
`
	for limit, want := range map[string]string{"< 0": "", "> 3": "Failing input written"} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "go.mod"), "module example.org/m\n\ngo 1.25.0\n")
		write(t, filepath.Join(dir, "m_test.go"), strings.Replace(source, "LIMIT", limit, 1))
		var out bytes.Buffer
		err := run(&out, dir, "", time.Second)
		switch {
		case want == "" && err != nil:
			t.Errorf("limit %s: %v", limit, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("limit %s: error %v, want one with %q", limit, err, want)
		case !strings.Contains(out.String(), "example.org/m FuzzLength: "):
			t.Errorf("limit %s: printed %q", limit, out.String())
		}
	}
}

// Of packages that are as they were since a revision no target runs.
func TestSince(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.org/m\n\ngo 1.25.0\n")
	for _, name := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name, "x_test.go"), "package x\n\nimport \"testing\"\n\nfunc FuzzX(*testing.F) {}\n")
	}
	for _, args := range []string{"init -q", "add .", "-c user.name=x -c user.email=x commit -q -m x"} {
		cmd := exec.Command("git", strings.Fields(args)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v %s", args, err, out)
		}
	}
	write(t, filepath.Join(dir, "b", "x.go"), "package x\n\nvar changed = 1\n")
	cmd := exec.Command("git", "add", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for since, want := range map[string]int{"": 2, "HEAD": 1, "no-such-revision": 2} {
		got, err := fuzzed(dir, since)
		if err != nil || len(got) != want || want == 1 && filepath.Base(got[0]) != "b" {
			t.Errorf("since %q: %v, %v, want %d", since, got, err, want)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
