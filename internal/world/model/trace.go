// This file has TLC take traces of played clusters for behaviours of the specification.

package model

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion/internal/world/summary"
)

//go:embed TRACE.tla
var trace []byte

// Milliseconds of the played clusters: their lease and what lives on after it on the slowest clock, and the grace of their drivers, which
// count in parts of milliseconds.
const (
	leaseMillis = 10_102
	lateMillis  = 6_566
	graceMillis = 19_998
)

// Refused is a trace that is no behaviour of the specification.
type Refused struct {
	Job string
	// Taken are the steps that were taken at most, and Next the one that nothing takes.
	Taken int
	Next  summary.Step
	// Said is what TLC has said.
	Said string
}

// Error says which step nothing takes, and what TLC has said.
func (r *Refused) Error() string {
	return fmt.Sprintf("%s: TLC takes %d steps, and not %+v: %s", r.Job, r.Taken, r.Next, r.Said)
}

// Check has TLC, of a jar, look at traces; spec is the text of checkpoint/RUN.tla. The error is a [Refused] for each trace that is refused, or says
// why TLC has not come to its end.
func Check(ctx context.Context, jar string, spec []byte, traces []summary.Trace) error {
	taken, err := Taken(ctx, jar, spec, traces)
	faults := []error{err}
	for i := range taken {
		if !taken[i] {
			faults = append(faults, explain(ctx, jar, spec, &traces[i]))
		}
	}
	return errors.Join(faults...)
}

// Taken says which traces TLC takes to their ends. The error says that a job runs twice, or why TLC has not come to its end.
func Taken(ctx context.Context, jar string, spec []byte, traces []summary.Trace) ([]bool, error) {
	said, err := run(ctx, jar, spec, traces, "Taken")
	if err == nil && strings.Contains(said, "Invariant NeverTwice is violated") {
		err = fmt.Errorf("model: a job runs twice:\n%s", said)
	}
	if err != nil {
		return nil, err
	}
	// What TLC does not name is not taken, whatever has kept it from that.
	taken := make([]bool, len(traces))
	for _, found := range regexp.MustCompile(`<<"taken", (\d+)>>`).FindAllStringSubmatch(said, -1) {
		if i, _ := strconv.Atoi(found[1]); i >= 1 && i <= len(taken) {
			taken[i-1] = true
		}
	}
	return taken, nil
}

// explain tells how far a trace is taken.
func explain(ctx context.Context, jar string, spec []byte, t *summary.Trace) error {
	said, err := run(ctx, jar, spec, []summary.Trace{*t}, "Reached")
	if err != nil {
		return err
	}
	r := &Refused{Job: t.Job}
	for _, found := range regexp.MustCompile(`<<"reached", (\d+)>>`).FindAllStringSubmatch(said, -1) {
		n, _ := strconv.Atoi(found[1])
		r.Taken = max(r.Taken, n)
	}
	if r.Taken < len(t.Steps) {
		r.Next = t.Steps[r.Taken]
	}
	if _, text, found := strings.Cut(said, "Error:"); found {
		r.Said = text[:min(len(text), 2000)]
	}
	return r
}

// run returns what TLC says of traces, with an invariant that prints.
func run(ctx context.Context, jar string, spec []byte, traces []summary.Trace, prints string) (string, error) {
	dir, err := os.MkdirTemp("", "trace")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	seen, servers, attempts := seen(traces)
	config := fmt.Sprintf("CONSTANTS Servers = {%s} Lease = %d Late = %d Grace = %d MaxTime = 0 MaxAttempt = %d\nSPECIFICATION TraceSpec\nINVARIANTS NeverTwice %s\n",
		strings.Join(numbers(servers), ", "), leaseMillis, lateMillis, graceMillis, attempts, prints)
	for name, text := range map[string][]byte{"RUN.tla": spec, "TRACE.tla": trace, "Seen.tla": seen, "TRACE.cfg": []byte(config)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return "", err
		}
	}
	tlc := exec.CommandContext(ctx, "java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss16m", "-Djava.io.tmpdir="+dir, "-cp", jar, "tlc2.TLC", "-deadlock", "-workers", "1", "TRACE.tla")
	tlc.Dir = dir
	out, err := tlc.CombinedOutput()
	// A status of its own says what TLC has found; one of Java's says that there is no TLC.
	if said := string(out); strings.HasPrefix(said, "TLC2 Version") {
		return said, nil
	}
	return "", fmt.Errorf("model: TLC: %w\n%s", err, out)
}

func numbers(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(i + 1)
	}
	return list
}

// seen is the module of traces, and how many servers and attempts the largest of them has. Each trace begins when all of before is older than a
// lease.
func seen(traces []summary.Trace) (text []byte, servers int, attempts int64) {
	text = []byte("---- MODULE Seen ----\nTraces == <<\n")
	servers, attempts = 1, 1
	for i := range traces {
		if i > 0 {
			text = append(text, ",\n"...)
		}
		text = append(text, "<<"...)
		var begins int64
		for k, s := range traces[i].Steps {
			if k == 0 {
				begins = s.At - leaseMillis - lateMillis
			} else {
				text = append(text, ",\n"...)
			}
			where := strconv.Itoa(s.Server)
			if s.Kind == "B" {
				where = "{" + strings.Join(texts(s.On), ", ") + "}"
			}
			text = fmt.Appendf(text, "<<%q, %d, %s, %d, %d>>", s.Kind, s.At-begins, where, s.Attempt, max(0, s.Stamp-begins))
			servers, attempts = max(servers, s.Server, slices.Max(append(s.On, 1))), max(attempts, s.Attempt)
		}
		text = append(text, ">>"...)
	}
	return append(text, ">>\n====\n"...), servers, attempts
}

func texts(numbers []int) []string {
	list := make([]string, len(numbers))
	for i, n := range numbers {
		list[i] = strconv.Itoa(n)
	}
	return list
}
