// This file holds the metrics to their format, their conventions and their documentation, and a dashboard and rules to the metrics.

package controller_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// sample is a line of the text format, as far as this test knows it: strict in what our own writer uses.
var sample = regexp.MustCompile(`^([a-z_]+)(\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$`)

// exported are the metrics that are told: their kinds by name, and their samples by what stands before the value.
func exported(t *testing.T, text string) (kinds map[string]string, samples map[string]float64) {
	t.Helper()
	kinds, samples = map[string]string{}, map[string]float64{}
	now := ""
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if rest, is := strings.CutPrefix(line, "# HELP "); is {
			now, _, _ = strings.Cut(rest, " ")
			continue
		}
		if rest, is := strings.CutPrefix(line, "# TYPE "); is {
			name, kind, _ := strings.Cut(rest, " ")
			if name != now || kinds[name] != "" {
				t.Errorf("%q after the help of %s", line, now)
			}
			kinds[name] = kind
			continue
		}
		parts := sample.FindStringSubmatch(line)
		if parts == nil {
			t.Errorf("%q is no sample", line)
			continue
		}
		value, err := strconv.ParseFloat(parts[4], 64)
		key := parts[1] + parts[2]
		if _, twice := samples[key]; err != nil || twice || base(parts[1], kinds) != now {
			t.Errorf("%q below %s: %v, twice: %v", line, now, err, twice)
		}
		samples[key] = value
	}
	return kinds, samples
}

// base is the name of the metric that a sample belongs to.
func base(name string, kinds map[string]string) string {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if cut, is := strings.CutSuffix(name, suffix); is && kinds[cut] == "histogram" {
			return cut
		}
	}
	return name
}

// metricsBench has two queues, of which one has a name that must be escaped, jobs that wait, and a restart.
func metricsBench(t *testing.T) string {
	b := newBench(t)
	queues := []drf.Queue{{ID: `a"\é`, Weight: 1, Guarantee: []int64{4}}, {ID: "b", Weight: 1}}
	b.fake.change(func(v *controller.View) { v.Queues = queues })
	b.submit(6, "one", "two", "three")
	b.fake.change(func(v *controller.View) {
		for i := range v.Jobs {
			v.Jobs[i].Application.Queue = queues[i%2].ID
			v.Jobs[i].Application.Min = 6
		}
		v.Rejected = map[string]string{"four": "it has no image"}
	})
	b.eventually("two run and one waits", func() bool {
		d := b.now().Last().Decision
		return d != nil && len(d.Waiting) == 1 && strings.Contains(b.get("/metrics").Body.String(), `apportion_jobs{phase="running"} 2`)
	})
	return b.get("/metrics").Body.String()
}

// Names have the units and endings that Prometheus asks for, histograms add up, and values stand for what is there.
func TestMetrics(t *testing.T) {
	text := metricsBench(t)
	kinds, samples := exported(t, text)
	for name, kind := range kinds {
		if (kind == "counter") != strings.HasSuffix(name, "_total") || !strings.HasPrefix(name, "apportion_") {
			t.Errorf("%s is a %s", name, kind)
		}
		if kind == "histogram" && !strings.HasSuffix(name, "_seconds") && !strings.HasSuffix(name, "_ratio") {
			t.Errorf("%s has no unit", name)
		}
	}
	for key, value := range samples {
		name, labels, _ := strings.Cut(key, "{")
		if count, is := strings.CutSuffix(name, "_count"); is && kinds[count] == "histogram" {
			labels = strings.TrimSuffix(labels, "}")
			if labels != "" {
				labels += ","
			}
			must.Equal(t, samples[count+"_bucket{"+labels+`le="+Inf"}`], value, key, "and all buckets have")
		}
	}
	for want, value := range map[string]float64{`apportion_queue_used{queue="a\"\\é",resource="gpu"}`: 6, `apportion_queue_guaranteed{queue="a\"\\é",resource="gpu"}`: 4,
		`apportion_queue_used{queue="b",resource="gpu"}`: 6, "apportion_jobs_rejected": 1, `apportion_job_wait_seconds_count{queue="b"}`: 1} {
		if got, is := samples[want]; !is || got != value {
			t.Errorf("%s is %v, want %v\n%s", want, got, value, text)
		}
	}
	waiting := 0.0
	for key, value := range samples {
		if strings.HasPrefix(key, "apportion_jobs_waiting{") {
			waiting += value
		}
	}
	must.Equal(t, waiting, 1, "wait", text)
}

// What is exported is documented with its kind and its labels, and what is documented is exported.
func TestMetricsAreDocumented(t *testing.T) {
	kinds, samples := exported(t, metricsBench(t))
	readme := must.Have(os.ReadFile("METRICS.md"))(t)
	documented, labels := map[string]string{}, map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(apportion_[a-z_]+)` \\| ([a-z]+) \\| (.*?) \\|").FindAllStringSubmatch(string(readme), -1) {
		documented[row[1]], labels[row[1]] = row[2], strings.ReplaceAll(strings.TrimSpace(row[3]), "`", "")
	}
	must.Equal(t, cmp.Diff(documented, kinds), "", "METRICS.md against /metrics (-documented +exported)")
	for key := range samples {
		name, rest, _ := strings.Cut(key, "{")
		var names []string
		for _, label := range regexp.MustCompile(`([a-z]+)="`).FindAllStringSubmatch(rest, -1) {
			if label[1] != "le" {
				names = append(names, label[1])
			}
		}
		must.Equal(t, strings.Join(names, ", "), labels[base(name, kinds)], key, "has labels", "and METRICS.md")
	}
}

// The dashboard and the rules ask for what is exported, and the dashboard shows all of it.
func TestMonitors(t *testing.T) {
	kinds, _ := exported(t, metricsBench(t))
	used := map[string]bool{}
	asks := func(where, expression string) {
		for _, name := range regexp.MustCompile(`apportion_[a-z_]+`).FindAllString(expression, -1) {
			used[base(name, kinds)] = true
			if kind := kinds[base(name, kinds)]; kind == "" || kind == "histogram" && name == base(name, kinds) {
				t.Errorf("%s asks for %s, which is not exported", where, name)
			}
		}
		if strings.Count(expression, "(") != strings.Count(expression, ")") {
			t.Errorf("%s: %s", where, expression)
		}
	}
	text, err := os.ReadFile("monitor/dashboard.json")
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err == nil {
		err = json.Unmarshal(text, &board)
	}
	if err != nil || len(board.Panels) == 0 {
		t.Fatal(err)
	}
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			asks("panel "+panel.Title, target.Expr)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if !used[name] {
			t.Errorf("no panel shows %s", name)
		}
	}
	text, err = os.ReadFile("monitor/alerts.yaml")
	rules := regexp.MustCompile(`(?m)^ +expr: (".*")$`).FindAllStringSubmatch(string(text), -1)
	if err != nil || len(rules) == 0 || len(rules) != strings.Count(string(text), "- alert: ") {
		t.Fatalf("%d rules, %v", len(rules), err)
	}
	for _, rule := range rules {
		var expression string
		must.Do(t, json.Unmarshal([]byte(rule[1]), &expression), rule[1])
		asks("a rule", expression)
	}
}

// said are the lines that a folder of this repository logs, with their attributes, read from its source.
func said(t *testing.T, folder string, lines map[string][]string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source := must.Have(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		ast.Inspect(source, func(n ast.Node) bool {
			call, _ := n.(*ast.CallExpr)
			if call == nil {
				return true
			}
			method, _ := call.Fun.(*ast.SelectorExpr)
			if method == nil || !slices.Contains([]string{"Debug", "Info", "Warn", "Error", "Log"}, method.Sel.Name) || !isLogger(method.X) {
				return true
			}
			// The first text is the line, and every other argument from then on an attribute's name.
			at := slices.IndexFunc(call.Args, func(e ast.Expr) bool { _, is := e.(*ast.BasicLit); return is })
			if at < 0 {
				return true
			}
			line, _ := strconv.Unquote(call.Args[at].(*ast.BasicLit).Value)
			lines[line] = slices.Concat(lines[line])
			for i := at + 1; i < len(call.Args); i += 2 {
				key, _ := strconv.Unquote(call.Args[i].(*ast.BasicLit).Value)
				if !slices.Contains(lines[line], key) {
					lines[line] = append(lines[line], key)
				}
			}
			return true
		})
	}
}

func isLogger(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "log"
	case *ast.SelectorExpr:
		return strings.EqualFold(e.Sel.Name, "log")
	}
	return false
}

// What driver, controller and programs log is in the table, with all attributes, and the other way around.
func TestLogIsDocumented(t *testing.T) {
	lines := map[string][]string{}
	for _, folder := range []string{".", "../driver", "daemon"} {
		said(t, folder, lines)
	}
	readme := must.Have(os.ReadFile("METRICS.md"))(t)
	_, text, _ := strings.Cut(string(readme), "## Log")
	documented, attributes, described := map[string][]string{}, []string{"program"}, []string{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z][a-z ]*) \| (?:driver|controller|program) \| [^|]* \| ([^|]*) \|`).FindAllStringSubmatch(text, -1) {
		documented[row[1]] = nil
		for _, name := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(row[2], -1) {
			documented[row[1]] = append(documented[row[1]], name[1])
		}
	}
	must.Equal(t, cmp.Diff(documented, lines), "", "METRICS.md against the source (-documented +logged)")
	for _, names := range lines {
		attributes = append(attributes, names...)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| [^|]+ \\|$").FindAllStringSubmatch(text, -1) {
		described = append(described, row[1])
	}
	slices.Sort(attributes)
	slices.Sort(described)
	must.Equal(t, cmp.Diff(described, slices.Compact(attributes)), "", "METRICS.md describes other attributes than are logged (-described +logged)")
}
