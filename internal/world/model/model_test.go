// This file searches the protocol, and without each of its rules, when it must be found that the job runs twice.

package model

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

func TestNeverTwice(t *testing.T) {
	c := Config{Lease: 1, Late: 1, Grace: 2, Attempts: 2}
	states, twice := c.Search()
	if twice != nil || states < 10_000 {
		t.Errorf("%d states: %q", states, twice)
	}
	t.Logf("%d states", states)
	for _, rule := range []string{"stamp", "mark", "over", "follow"} {
		c := c
		c.Without = rule
		_, twice := c.Search()
		if twice == nil {
			t.Errorf("without the rule %q the job never runs twice", rule)
		}
		t.Logf("without %q: %q", rule, twice)
	}
	// A grace that is shorter than the lease is another such.
	c.Grace = 0
	if _, twice := c.Search(); twice == nil {
		t.Error("with a grace that is shorter than the lease the job never runs twice")
	}
}

// rules are the edits of RUN.tla that take a rule away, as Config.Without does.
var rules = map[string][]string{
	"":       nil,
	"stamp":  {"t <= stamp[a][s] /\\ mark", "mark"},
	"mark":   {"ELSE Max(mark[s], runs[s])]", "ELSE mark[s]]", "mark' = [mark EXCEPT ![s] = Max(@, runs[s])]", "mark' = mark", "![s] = Max(@, a)]", "![s] = @]"},
	"over":   {"/\\ over = Newest /\\ attempt <", "/\\ attempt <"},
	"follow": {"\\/ Tick \\/ ", "\\/ (\\E s \\in Servers : \\E t \\in now - Lease .. now : Linger(s, t)) \\/ Tick \\/ "},
}

// TLC finds as many states of the specification as the search does, and without a rule as short a way to a job that runs twice.
func TestTLC(t *testing.T) {
	jar := os.Getenv("APPORTION_TLC")
	if jar == "" {
		must.Equal(t, os.Getenv("APPORTION_REQUIRE_TLC"), "", "APPORTION_TLC names no TLC: run make tlc")
		t.Skip("APPORTION_TLC names no TLC: run make tlc")
	}
	for rule, edits := range rules {
		t.Run("without "+cmp.Or(rule, "none"), func(t *testing.T) {
			c := Config{Lease: 1, Grace: 1, Attempts: 2, Without: rule}
			states, twice := c.Search()
			out := tlc(t, jar, c, edits)
			if rule == "" && !strings.Contains(out, fmt.Sprintf(" %d distinct states found, 0 states left", states)) {
				t.Errorf("the search finds %d states; TLC:\n%s", states, out)
			}
			if steps := len(regexp.MustCompile(`(?m)^State \d+: <`).FindAllString(out, -1)) - 1; rule != "" && steps != len(twice) {
				t.Errorf("the search finds %q, TLC a way of %d steps:\n%s", twice, steps, out)
			}
		})
	}
}

// tlc returns what TLC says of the specification with these edits: pairs of a text that is there once, and what stands there instead.
func tlc(t *testing.T, jar string, c Config, edits []string) string {
	t.Helper()
	text := must.Have(os.ReadFile("../../../checkpoint/RUN.tla"))(t)
	spec := string(text)
	for ; len(edits) > 0; edits = edits[2:] {
		must.Equal(t, strings.Count(spec, edits[0]), 1, edits[0], "is not there once in RUN.tla")
		spec = strings.Replace(spec, edits[0], edits[1], 1)
	}
	dir := t.TempDir()
	config := fmt.Sprintf("CONSTANTS Servers = {1, 2} Lease = %d Late = %d Grace = %d MaxTime = 60 MaxAttempt = %d\nSPECIFICATION Spec\nVIEW Ages\nINVARIANT NeverTwice\n",
		c.Lease, c.Late, c.Grace, c.Attempts)
	for name, text := range map[string]string{"RUN.tla": spec, "RUN.cfg": config} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	// One worker goes breadth first. A violation is an exit status of its own, and what it prints is looked at.
	run := exec.Command("java", "-XX:+UseSerialGC", "-Djava.io.tmpdir="+dir, "-cp", jar, "tlc2.TLC", "-deadlock", "-workers", "1", "RUN.tla")
	run.Dir = dir
	out, _ := run.CombinedOutput()
	return string(out)
}
