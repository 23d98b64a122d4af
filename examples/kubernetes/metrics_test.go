// This file reads the metrics of a controller as Prometheus does, and the rules for it as YAML.

package kubernetes

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"sigs.k8s.io/yaml"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/controller/controllertest"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/managed/managedtest"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// The text of /metrics is what Prometheus' own parser takes, each metric with its help, its kind and a name that is legal, also where a
// queue has a name with quotes.
func TestMetricsParse(t *testing.T) {
	view := controller.View{
		Servers: []controller.Server{{Server: apportion.Server{ID: "n1", Capacity: apportion.Resources{4}}}},
		Jobs:    []controller.Job{{Application: alloc.Application{ID: "lr", Weight: 1, Queue: `a "b" \c é`, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 8}}}},
		Queues:  []drf.Queue{{ID: `a "b" \c é`, Weight: 1, Guarantee: apportion.Resources{2}}},
	}
	program := daemon.Program{Name: "test", Kinds: apportion.Kinds{"gpu"}, Connect: func(int64, string, daemon.Guarded) (daemon.Cluster, error) {
		return controllertest.New(managedtest.New(func() *guard.Desk { return nil }, nil), view), nil
	}}
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- program.Run(ctx, []string{"-shared", t.TempDir(), "-listen", "127.0.0.1:0"}, out, io.Discard)
	}()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	said := make([]byte, 4096)
	n := must.Have(in.Read(said))(t)
	page, file, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(string(said[:n]), "page: ")), "\ntoken: ")
	token := must.Have(os.ReadFile(file))(t)
	address, _, _ := strings.Cut(page, "?")
	for limit := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		request := must.Have(http.NewRequestWithContext(ctx, http.MethodGet, address+"metrics", nil))(t)
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		response := must.Have(http.DefaultClient.Do(request))(t)
		parser := expfmt.NewTextParser(model.LegacyValidation)
		families, err := parser.TextToMetricFamilies(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		// Families without a sample are left out by the parser, and the first decision may be older than the job.
		used := families["apportion_queue_used"]
		decided := used != nil && used.GetMetric()[0].GetGauge().GetValue() == 4
		if !decided && time.Now().Before(limit) {
			continue
		}
		if !decided || used.GetMetric()[0].GetLabel()[0].GetValue() != view.Queues[0].ID {
			t.Errorf("%v", families)
		}
		for name, family := range families {
			if family.GetHelp() == "" || family.GetType().String() == "UNTYPED" {
				t.Errorf("%s has no help or no kind", name)
			}
		}
		if h := families["apportion_decision_seconds"]; h.GetType().String() != "HISTOGRAM" || h.GetMetric()[0].GetHistogram().GetSampleCount() == 0 {
			t.Errorf("%v", h)
		}
		return
	}
}

// The rules are YAML with what Prometheus asks of a rule, and nothing else.
func TestRules(t *testing.T) {
	text, err := os.ReadFile("../../checkpoint/controller/monitor/alerts.yaml")
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err == nil {
		err = yaml.UnmarshalStrict(text, &rules)
	}
	if err != nil || len(rules.Groups) != 1 || len(rules.Groups[0].Rules) == 0 {
		t.Fatalf("%+v, %v", rules, err)
	}
	for _, rule := range rules.Groups[0].Rules {
		if _, err := model.ParseDuration(rule.For); err != nil || rule.Alert == "" || rule.Expr == "" || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" {
			t.Errorf("%+v: %v", rule, err)
		}
	}
}
