// This file tests how runs are asked for, with a holder that writes down what it is told.

package yarn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

func guarded() daemon.Guarded {
	return daemon.Guarded{Program: "/bin/guard", URL: "http://c/lease", Shared: "/shared", Every: time.Second}
}

// holderScript is a holder that keeps what it is told, and dies when it is told to stop attempt 13.
const holderScript = `#!/bin/sh
echo 'a word of the start script'
echo '{"ready":true}'
while read -r line; do
	echo "$line" >> "$(dirname "$0")/told"
	id=$(echo "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
	case "$line" in
	*'"attempt":13'*) exit 1;;
	*'"op":"end"'*) echo '{"id":'$id',"error":"job lr is not open"}';;
	*'"op":"open"'*) echo '{"id":'$id',"state":"refused","why":"no queue"}';;
	*'"op":"list"'*) echo '{"id":'$id',"jobs":{"lr":{"state":"open","containers":[{"attempt":3,"server":"n1:1","state":"started"}]}}}';;
	*) echo '{"id":'$id'}';;
	esac
done
`

// onHolder is a cluster with such a holder.
func onHolder(t *testing.T) (y *yarn, told func() []map[string]any) {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(dir, "holder")
	must.Do(t, os.WriteFile(script, []byte(holderScript), 0o700))
	g := guarded()
	g.Shared = dir
	y = newYARN(conf{}, g)
	y.jobs = filepath.Join(dir, "jobs")
	folder := filepath.Join(dir, "cluster")
	must.Do(t, errors.Join(os.Mkdir(folder, 0o700), y.keep(folder, managed.Quote(script))))
	t.Cleanup(func() { letGo(t, y.holder) })
	awaitHolder(t, y)
	return y, func() []map[string]any {
		text, _ := os.ReadFile(filepath.Join(dir, "told"))
		var list []map[string]any
		for line := range strings.Lines(string(text)) {
			var one map[string]any
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			if one["op"] != "list" {
				list = append(list, one)
			}
		}
		return list
	}
}

// letGo ends the holder's process and waits for it: it writes into the test's folder while it lives.
func letGo(t *testing.T, h *holder) {
	h.mu.Lock()
	if h.in != nil {
		_ = h.in.Close()
	}
	h.mu.Unlock()
	processes.Eventually(t, "the holder ends", 60*time.Second, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.in == nil
	})
}

// awaitHolder waits until the holder answers.
func awaitHolder(t *testing.T, y *yarn) {
	t.Helper()
	processes.Eventually(t, "the holder answers", 60*time.Second, func() bool {
		_, err := y.holder.list(t.Context())
		return err == nil
	})
}

// taskOf is a run of three containers on two servers.
func taskOf(t *testing.T, attempt int64) managed.Task {
	t.Helper()
	s := jobsOf(t, map[string]string{"lr.json": goodJob})[0]
	text := must.Have(json.Marshal(s))(t)
	return managed.Task{Epoch: 4, Spec: text, Credential: credential(t), Run: runner.Run{Job: "lr", Attempt: attempt, Containers: []string{"n1:1", "n2:1", "n2:1"}, Dir: t.TempDir()}}
}

// credential is the file of a run's credential.
func credential(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "credential")
	must.Do(t, os.WriteFile(name, nil, 0o600))
	return name
}

// A run is asked for once; and what the holder is told is what was decided.
func TestStartOnce(t *testing.T) {
	y, told := onHolder(t)
	task := taskOf(t, 3)
	for range 3 {
		must.Do(t, y.Start(t.Context(), task))
		task.Again = true
	}
	list := told()
	must.Equal(t, len(list), 1, list)
	for key, want := range map[string]string{"op": "start", "job": "lr", "attempt": "3", "memory": "500", "vcores": "2", "resources": "map[yarn.io/gpu:1]",
		"parts": "[map[count:1 first:0 server:n1:1] map[count:2 first:1 server:n2:1]]", "server_variable": "APPORTION_SERVER", "rank_variable": "APPORTION_RANK"} {
		must.Equal(t, fmt.Sprint(list[0][key]), want, key)
	}
	// The first server has its container, the second was to have two of which YARN knows none.
	wants := []string{"", "YARN was not asked for 2 containers"}
	for i, part := range task.Servers() {
		if got, _, err := y.Trouble(t.Context(), "lr", 3, part); err != nil || !strings.HasPrefix(got, wants[i]) || (got == "") != (wants[i] == "") {
			t.Errorf("%s: %q, %v", part.Server, got, err)
		}
	}
}

// The holder dies in the middle of an order, and another takes its place.
func TestHolderDies(t *testing.T) {
	y, told := onHolder(t)
	y.manager.addresses = nil
	must.Fail(y.Stop(t.Context(), "lr", 13, "n1:1"))(t, errNotHeld)
	awaitHolder(t, y)
	must.Have(y.Stop(t.Context(), "lr", 14, "n1:1"))(t)
	if list := told(); len(list) != 2 || list[1]["attempt"] != 14.0 {
		t.Errorf("%v", list)
	}
	var refused refusal
	if err := y.holder.call(t.Context(), map[string]any{"op": "end"}, &held{}); !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
	must.Equal(t, must.Have(y.open(t.Context(), &submission{Job: "lr"}))(t), "no queue")
	ended, end := context.WithCancel(t.Context())
	end()
	if err := y.holder.call(ended, map[string]any{"op": "never"}, &held{}); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// The script of a run keeps every word as the user has written it, through two shells.
func TestScript(t *testing.T) {
	y := newYARN(conf{}, guarded())
	task := taskOf(t, 3)
	task.Job = "it's $HOME"
	var s submission
	must.Do(t, json.Unmarshal(task.Spec, &s))
	text := y.script(&s, &task)
	for _, want := range []string{`export APPORTION_JOB='it'\''s $HOME'`, "export APPORTION_EPOCH='4'", "export A_1='it'\\''s'", "'-save' 'USR1'",
		"exec '/bin/guard' '-url' 'http://c/lease' '-token-file'", "-- 'python3' 'train it.py'"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, "export APPORTION_SERVER=") {
		t.Error("all containers have one server")
	}
	dir := filepath.Join(t.TempDir(), "a \"b\" $c `d` 'e' \\f")
	must.Do(t, os.Mkdir(dir, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, scriptName), []byte("echo here"), 0o600))
	// As YARN has it: within double quotes, and its own words replaced.
	line := strings.ReplaceAll(launchCommand(dir), "<LOG_DIR>", t.TempDir())
	line = strings.Replace(line, " 1>", " ; : 1>", 1)
	out := must.Have(exec.Command("bash", "-c", `exec /bin/bash -c "`+strings.TrimPrefix(line, "exec ")+`"`).CombinedOutput())(t)
	must.Equal(t, string(out), "here\n", line)
}

func TestTroubleOf(t *testing.T) {
	h := &held{State: "open", Containers: []heldContainer{{Attempt: 3, Rank: 0, Server: "n1", State: "asked"},
		{Attempt: 3, Rank: 1, Server: "n2", State: "over", Exit: 143, ID: "c7", Why: "killed"}, {Attempt: 2, Rank: 0, Server: "n3", State: "started"}}}
	for server, want := range map[string]string{"n1": "", "n2": "container 1, c7, is over: 143 killed", "n3": "YARN was not asked for 1 containers: "} {
		must.Equal(t, troubleOf(h, 3, server, 1), want, server)
	}
	if got := troubleOf(h, 3, "n1", 2); !strings.Contains(got, "not asked for 1") {
		t.Errorf("%q", got)
	}
}

// What YARN has lost may live until its run was stopped.
func TestGhosts(t *testing.T) {
	all := map[string]held{"lr": {Stopped: 2, Containers: []heldContainer{
		{Attempt: 2, Server: "n1", State: "over", Exit: lostExit}, {Attempt: 3, Server: "n2", State: "over", Exit: lostExit},
		{Attempt: 3, Server: "n3", State: "over", Exit: 1}, {Attempt: 3, Server: "n4", State: "started"}}}}
	found := ghostsOf(all)
	if len(found) != 1 || !strings.Contains(found["n2"], "lr") {
		t.Errorf("%v", found)
	}
}

// Containers run as the nodes' configuration says, and nobody is guessed: a user whom the system does not know, and root by its name,
// are errors.
func TestUser(t *testing.T) {
	const executor = "yarn.nodemanager.linux-container-executor.nonsecure-mode."
	linux := "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor"
	for _, c := range []struct {
		owner string
		more  conf
		want  string
	}{
		{"daemon", conf{}, "nil"},
		{"daemon", conf{"yarn.nodemanager.container-executor.class": linux}, "nobody"},
		{"root", conf{"yarn.nodemanager.container-executor.class": linux}, "nobody"},
		{"daemon", conf{"yarn.nodemanager.container-executor.class": linux, executor + "local-user": "games"}, "games"},
		{"daemon", conf{"yarn.nodemanager.container-executor.class": linux, executor + "limit-users": "false"}, "daemon"},
		{"daemon", conf{"yarn.nodemanager.container-executor.class": linux, "hadoop.security.authentication": "kerberos"}, "daemon"},
		{"root", conf{"yarn.nodemanager.container-executor.class": linux, executor + "limit-users": "false"}, "error"},
		{"stranger-to-all", conf{"yarn.nodemanager.container-executor.class": linux, executor + "limit-users": "false"}, "error"},
	} {
		spec := must.Have(json.Marshal(&submission{User: c.owner}))(t)
		u, err := newYARN(c.more, guarded()).User(spec)
		got := "nil"
		switch {
		case err != nil:
			got = "error"
		case u != nil:
			known := must.Have(user.LookupId(strconv.FormatUint(uint64(u.UID), 10)))(t)
			must.Equal(t, known.Gid, strconv.FormatUint(uint64(u.GID), 10), u)
			got = known.Username
		}
		must.Equal(t, got, c.want, c.owner, "'s job with", c.more, "runs as", err)
	}
	must.Fail(newYARN(conf{}, guarded()).User([]byte("no spec")))(t, must.ErrAny, "a spec that is none has a user")
}

// A dry run has neither holder nor masters; a controller has both, and its jobs lie in the shared folder unless a variable
// names their folder.
func TestConnect(t *testing.T) {
	shared, folder := t.TempDir(), t.TempDir()
	g := guarded()
	g.Shared = shared
	p := program(conf{"yarn.resource-types": gpuKind})
	for _, test := range []struct{ folder, variable, jobs string }{
		{"", "", ""}, {"", "/jobs", "/jobs"}, {folder, "", filepath.Join(shared, "jobs")}, {folder, filepath.Join(shared, "own"), filepath.Join(shared, "own")},
	} {
		t.Setenv(jobsVariable, test.variable)
		cluster := must.Have(p.Connect(4, test.folder, g))(t)
		y := cluster.(*yarn)
		if y.jobs != test.jobs || (y.holder != nil) != (test.folder != "") || (y.masters != nil) != (test.folder != "") || len(y.kinds) != 3 {
			t.Errorf("folder %q, variable %q: jobs in %q, holder %v, masters %v, kinds %v", test.folder, test.variable, y.jobs, y.holder != nil, y.masters != nil, y.kinds)
		}
		if test.folder != "" && (!strings.HasPrefix(y.instance, "apportion-") || y.holder.command != holderCommand) {
			t.Errorf("instance %q, command %q", y.instance, y.holder.command)
		}
	}
}
