// This file tests the plugin as the autoscaler uses it: a process of its own, spoken to by gRPC.

package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/nomad-autoscaler/plugins"
	autoscaler "github.com/hashicorp/nomad-autoscaler/plugins/strategy"
	"github.com/hashicorp/nomad-autoscaler/sdk"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/internal/must"
)

// TestMain is the plugin where the autoscaler has started it.
func TestMain(m *testing.M) {
	if os.Getenv(plugins.Handshake.MagicCookieKey) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// dispense starts the plugin as the autoscaler does.
func dispense(t *testing.T) autoscaler.Strategy {
	t.Helper()
	self := must.Have(os.Executable())(t)
	client := plugin.NewClient(&plugin.ClientConfig{HandshakeConfig: plugins.Handshake, Cmd: exec.Command(self),
		Plugins:          map[string]plugin.Plugin{sdk.PluginTypeStrategy: &autoscaler.PluginStrategy{}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, Logger: hclog.New(&hclog.LoggerOptions{Output: io.Discard})})
	t.Cleanup(client.Kill)
	speaks := must.Have(client.Client())(t)
	raw := must.Have(speaks.Dispense(sdk.PluginTypeStrategy))(t)
	return raw.(autoscaler.Strategy)
}

// tokenFile writes a token.
func tokenFile(t *testing.T, token string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "token")
	must.Do(t, os.WriteFile(name, []byte(token+"\n"), 0o600))
	return name
}

// evaluate is a check of a policy as the autoscaler makes it.
func evaluate(s autoscaler.Strategy, job string, count int64) (*sdk.ScalingAction, error) {
	eval, err := s.Run(&sdk.ScalingCheckEvaluation{Action: &sdk.ScalingAction{},
		Check: &sdk.ScalingPolicyCheck{Name: "share", Strategy: &sdk.ScalingPolicyStrategy{Name: name, Config: map[string]string{keyJob: job}}}}, count)
	if err != nil {
		return nil, err
	}
	return eval.Action, nil
}

// answers answers every request for a decision with a text, and nothing else.
func answers(t *testing.T, text *string) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/decision" || r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "not you", http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, *text)
	}))
	t.Cleanup(server.Close)
	return server
}

// The plugin says what it is, refuses what it cannot work with, and changes nothing while there is no decision.
func TestPlugin(t *testing.T) {
	s := dispense(t)
	if info, err := s.PluginInfo(); err != nil || info.Name != "apportion" || info.PluginType != "strategy" {
		t.Errorf("%+v, %v", info, err)
	}
	text, secret := "", tokenFile(t, "secret")
	server := answers(t, &text)
	for _, config := range []map[string]string{
		nil, {keyURL: server.URL}, {keyTokenFile: secret}, {keyURL: "ftp://host", keyTokenFile: secret}, {keyURL: "127.0.0.1:7190", keyTokenFile: secret},
		{keyURL: server.URL, keyTokenFile: secret + "s"},
	} {
		if err := s.SetConfig(config); err == nil {
			t.Errorf("%v is accepted", config)
		}
	}
	must.Do(t, s.SetConfig(map[string]string{keyURL: server.URL + "/", keyTokenFile: secret}))
	const decided = `{"at": "2026-01-02T03:04:05Z", "took": 1,
		"problem": {"kinds": ["gpu"], "applications": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "theta1": 1, "theta2": 1},
		"decision": {"status": "decided", "allocation": {"a": {"n1": 3, "n2": 1}}, "waiting": [{"id": "b", "reason": {"text": "no server has room"}}]}}`
	for _, c := range []struct {
		answer, job string
		count, want int64
		direction   sdk.ScaleDirection
		says        string
	}{
		{decided, "a", 3, 4, sdk.ScaleDirectionUp, "on 3 jobs gives it 4 containers"},
		{decided, "a", 6, 4, sdk.ScaleDirectionDown, "03:04:05"},
		{decided, "a", 4, 4, sdk.ScaleDirectionNone, ""},
		{decided, "b", 2, 0, sdk.ScaleDirectionDown, "no server has room"},
		{decided, "c", 0, 0, sdk.ScaleDirectionNone, ""},
	} {
		text = c.answer
		action, err := evaluate(s, c.job, c.count)
		if err != nil || action.Count != c.want || action.Direction != c.direction || !strings.Contains(action.Reason, c.says) || action.Error {
			t.Errorf("%s has %d: %+v, %v", c.job, c.count, action, err)
		}
	}
	for _, c := range [][3]string{
		{decided, "d", `not about job "d"`}, {decided, "", "which job"}, {`{"fault": "nobody answers"}`, "a", "nobody answers"},
		{`{"took": 0}`, "a", "nothing was decided"}, {"<html>", "a", "invalid character"},
	} {
		text = c[0]
		if action, err := evaluate(s, c[1], 1); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %+v, %v", c[2], action, err)
		}
	}
	must.Do(t, s.SetConfig(map[string]string{keyURL: server.URL, keyTokenFile: tokenFile(t, "other")}))
	if action, err := evaluate(s, "a", 1); err == nil || !strings.Contains(err.Error(), "not you") {
		t.Errorf("%+v, %v", action, err)
	}
	server.Close()
	if action, err := evaluate(s, "a", 1); err == nil {
		t.Errorf("%+v from nobody", action)
	}
}

// small is a cluster of two servers whose jobs are scaled by totals.
type small struct {
	managed.Manager
	mu   sync.Mutex
	jobs []string
	has  map[string]int64
}

func (s *small) Look(context.Context) (*controller.View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := &controller.View{}
	for _, id := range []string{"n1", "n2"} {
		v.Servers = append(v.Servers, controller.Server{Server: apportion.Server{ID: id, Capacity: apportion.Resources{6}}})
	}
	for _, id := range s.jobs {
		v.Jobs = append(v.Jobs, controller.Job{Application: alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 12}}})
	}
	return v, nil
}

// Running puts the containers onto the servers in turn, as a manager of its own mind would.
func (s *small) Running(context.Context) (alloc.Allocation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	running, next := alloc.Allocation{}, 0
	for _, id := range s.jobs {
		for range s.has[id] {
			if running[id] == nil {
				running[id] = map[string]int64{}
			}
			running[id][[]string{"n1", "n2"}[next%2]]++
			next++
		}
	}
	return running, nil
}

// scale gives a job what it is to have, as far as there is room.
func (s *small) scale(id string, count int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	room := int64(12) + s.has[id]
	for _, n := range s.has {
		room -= n
	}
	s.has[id] = min(count, room)
}

func (s *small) state() ([]string, map[string]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs, maps.Clone(s.has)
}

// Jobs that are scaled one at a time, each by its own check, come to what was decided about all of them.
func TestJointly(t *testing.T) {
	cluster := &small{jobs: []string{"a"}, has: map[string]int64{}}
	advisor := controller.NewAdvisor(controller.Config{Cluster: noEnd{cluster}, Look: time.Millisecond,
		Problem: alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 0, Theta2: 1}}, cluster.Running)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { advisor.Run(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	server := httptest.NewServer(advisor.Handler("secret"))
	t.Cleanup(server.Close)
	s := dispense(t)
	must.Do(t, s.SetConfig(map[string]string{keyURL: server.URL, keyTokenFile: tokenFile(t, "secret")}))
	for _, want := range []map[string]int64{{"a": 12}, {"a": 6, "b": 6}, {"a": 4, "b": 4, "c": 4}} {
		end := time.Now().Add(20 * time.Second)
		for {
			jobs, has := cluster.state()
			if maps.Equal(has, want) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("the jobs have %v, not %v", has, want)
			}
			for _, id := range jobs {
				if action, err := evaluate(s, id, has[id]); err == nil && action.Direction != sdk.ScaleDirectionNone {
					cluster.scale(id, action.Count)
				}
			}
		}
		cluster.mu.Lock()
		cluster.jobs = append(cluster.jobs, string(rune('a'+len(want))))
		cluster.mu.Unlock()
	}
}

// noEnd is a cluster whose jobs nobody ends.
type noEnd struct{ *small }

func (noEnd) Ended(context.Context, string, checkpoint.Ending, string) error {
	return errors.New("not asked for")
}
func (noEnd) Forget(context.Context, string) error { return errors.New("not asked for") }
