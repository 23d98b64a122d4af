// This file tests the program around a controller on a cluster manager that has nothing.

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/controller/controllertest"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/managed/managedtest"
	"github.com/apportion/apportion/internal/must"
)

// idle is a cluster of one server with one job, and a fault of its looks.
func idle(fault error) *controllertest.Cluster {
	c := controllertest.New(managedtest.New(func() *guard.Desk { return nil }, nil), controller.View{
		Servers: []controller.Server{{Server: apportion.Server{ID: "n1", Capacity: apportion.Resources{4}}}},
		Jobs:    []controller.Job{{Application: alloc.Application{ID: "lr", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 8}}}},
	})
	c.Change(func(*controller.View) error { return fault })
	return c
}

// on is the program on such a cluster, and what it was connected with.
func on(err error) (*Program, *[]Guarded) {
	var connected []Guarded
	return &Program{Name: "test", Kinds: apportion.Kinds{"gpu"}, Connect: func(epoch int64, folder string, g Guarded) (Cluster, error) {
		connected = append(connected, g)
		if (epoch == 0) != (folder == "") {
			return nil, errors.New("a folder without an epoch")
		}
		return idle(err), nil
	}}, &connected
}

func TestDryRun(t *testing.T) {
	p, connected := on(nil)
	var text strings.Builder
	if err := p.Run(t.Context(), []string{"-dry-run"}, &text, &text); err != nil || !strings.Contains(text.String(), "lr") {
		t.Errorf("%v: %s", err, text.String())
	}
	if want := "JOB  HAS  GETS  WHERE  WHY\nlr   0    4     n1:4   starts\n"; !strings.HasPrefix(text.String(), want) {
		t.Errorf("%q, want %q", text.String(), want)
	}
	if len(*connected) != 1 || (*connected)[0] != (Guarded{}) {
		t.Errorf("%+v", *connected)
	}
	p, _ = on(errors.New("nobody answers"))
	must.Err(t, p.Run(t.Context(), []string{"-dry-run"}, &text, &text), must.ErrAny, "a plan for a cluster that is not seen")
}

// A diary says what would be done, each time from what would be there, and a job that comes moves the one before once.
func TestDiary(t *testing.T) {
	p, _ := on(nil)
	cluster := idle(nil)
	p.Connect = func(int64, string, Guarded) (Cluster, error) { return cluster, nil }
	ctx, stop := context.WithCancel(t.Context())
	name, ended := filepath.Join(t.TempDir(), "diary"), make(chan error)
	go func() {
		ended <- p.Run(ctx, []string{"-dry-run", "-diary", name, "-look", "5ms"}, io.Discard, io.Discard)
	}()
	has := func(want string) (text string) {
		for end := time.Now().Add(20 * time.Second); !strings.Contains(text, want) && time.Now().Before(end); time.Sleep(time.Millisecond) {
			read, _ := os.ReadFile(name) // it comes with the first decision
			text = string(read)
		}
		return text
	}
	has(`msg="job is to change" job=lr from="" to=n1:4`)
	cluster.Change(func(v *controller.View) error {
		next := v.Jobs[0]
		next.Application.ID = "mf"
		v.Jobs = append(v.Jobs[:1:1], next)
		return nil
	})
	if text := has(`job=lr from=n1:4 to=n1:2`); !strings.Contains(text, `job=mf from="" to=n1:2`) {
		t.Error(text)
	}
	time.Sleep(50 * time.Millisecond)
	stop()
	must.Do(t, <-ended)
	if text := has("job=lr"); strings.Count(text, "job is to change") != 3 {
		t.Errorf("%s", text)
	}
}

func TestFlags(t *testing.T) {
	p, _ := on(nil)
	var text strings.Builder
	for _, args := range [][]string{nil, {"-shared", "here"}, {"-lease", "soon"},
		{"-reserve", "gpu=-1"}, {"-reserve", "gpu=101%"}, {"-reserve", "gpu=NaN%"}, {"-reserve", "tpu=1"}, {"-reserve", "gpu"}, {"-reserve", ""}, {"-reserve", "gpu=1;"}, {"-reserve", "gpu=1 8-18"}, {"-reserve", "gpu=1 08:00-25:00"}, {"-reserve", "gpu=1 08:00-08:00"}, {"-reserve", "gpu=1 mo-fr"}, {"-reserve", "08:00-18:00 gpu=1"}, {"-waiting-priority", "high"},
		{"-topology", "zone,,rack"}, {"-topology", "rack,rack"}} {
		must.Err(t, p.Run(t.Context(), args, &text, &text), must.ErrAny, args, "is accepted")
	}
	if err := p.Run(t.Context(), []string{"-help"}, &text, &text); !errors.Is(err, flag.ErrHelp) || !strings.Contains(text.String(), "-theta1") {
		t.Errorf("%v", err)
	}
	s, err := p.parse([]string{"-shared", "/s", "-listen", "127.0.0.1:1", "-reserve", "gpu=2,gpu=25%; gpu=3 22:00-06:30 fri-mon wed", "-waiting-priority", "-3", "-topology", "zone,rack"}, &text)
	if err != nil || s.url != "http://127.0.0.1:1" || s.reserve[0].Headroom[0] != (controller.Headroom{Amount: 2, Part: 0.25}) || s.reserve[1].Headroom[0].Amount != 3 ||
		s.reserve[1].Hours != (controller.Hours{From: 22 * time.Hour, To: 6*time.Hour + 30*time.Minute, Days: [7]bool{true, true, false, true, false, true, true}}) || *s.standing != -3 || strings.Join(s.topology, "/") != "zone/rack" {
		t.Errorf("%+v, %v", s, err)
	}
}

// One leads, and the next begins when that has gone. Tokens stay what they are, and nobody else may read those of users.
func TestLead(t *testing.T) {
	p, connected := on(nil)
	shared := t.TempDir()
	args := []string{"-shared", shared, "-listen", "127.0.0.1:0"}
	first, stop := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	out := &lines{seen: make(chan string, 4)}
	go func() { ended <- p.Run(first, args, out, os.Stderr) }()
	<-out.seen
	second, end := context.WithCancel(t.Context())
	defer end()
	next := &lines{seen: make(chan string, 4)}
	go func() { ended <- p.Run(second, args, next, os.Stderr) }()
	select {
	case text := <-next.seen:
		t.Fatalf("two lead: %s", text)
	case <-time.After(300 * time.Millisecond):
	}
	stop()
	must.Do(t, <-ended)
	again := <-next.seen
	token, err := os.ReadFile(filepath.Join(shared, "master", "user.token"))
	if err != nil || strings.Contains(again, strings.TrimSpace(string(token))) || !strings.Contains(again, "master/user.token") {
		t.Errorf("%v: it says the token, or not where it is: %s", err, again)
	}
	end()
	must.Do(t, <-ended)
	if len(*connected) != 2 || (*connected)[1].Shared != shared {
		t.Errorf("%+v", *connected)
	}
	for _, name := range []string{"master/user.token", "master/guard.secret"} {
		if info, err := os.Stat(filepath.Join(shared, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// lines hands on what is written.
type lines struct{ seen chan string }

func (l *lines) Write(text []byte) (int, error) {
	l.seen <- string(text)
	return len(text), nil
}

// Where a cluster has an autoscaler the program can decide for that, in place of a controller.
func TestAdvise(t *testing.T) {
	p, connected := on(nil)
	var text strings.Builder
	if err := p.Run(t.Context(), []string{"-advise", "-shared", t.TempDir()}, &text, &text); err == nil {
		t.Error("a flag for nothing")
	}
	p.Advised = func() (Cluster, error) {
		return idle(nil), nil
	}
	ctx, stop := context.WithCancel(t.Context())
	out := &lines{seen: make(chan string, 4)}
	ended := make(chan error, 1)
	go func() {
		ended <- p.Run(ctx, []string{"-advise", "-shared", t.TempDir(), "-listen", "127.0.0.1:0", "-look", "1ms"}, out, os.Stderr)
	}()
	url, file, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(<-out.seen), "decisions: "), "\ntoken: ")
	token := must.Have(os.ReadFile(file))(t)
	var taken controller.Taken
	for end := time.Now().Add(20 * time.Second); taken.Decision == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
		request := must.Have(http.NewRequest(http.MethodGet, url, nil))(t)
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(json.NewDecoder(response.Body).Decode(&taken), response.Body.Close())
		if err != nil {
			t.Fatal(err)
		}
	}
	if taken.Decision == nil || taken.Decision.Allocation.Containers("lr") != 4 {
		t.Errorf("%+v", taken)
	}
	stop()
	if err := <-ended; err != nil || len(*connected) != 0 {
		t.Errorf("%v, and a controller was connected %d times", err, len(*connected))
	}
}

// telling is a cluster whose users are told.
type telling struct {
	*controllertest.Cluster
	told chan int
}

func (t *telling) Tell(_ context.Context, r *controller.Report) error {
	select {
	case t.told <- len(r.Jobs):
	default:
	}
	return nil
}

// A program leads in its own way, has flags and a folder of its own, and tells.
func TestOwnWays(t *testing.T) {
	p, _ := on(nil)
	told, lost := make(chan int), make(chan context.CancelFunc, 1)
	connect := p.Connect
	p.Connect = func(epoch int64, folder string, g Guarded) (Cluster, error) {
		c, err := connect(epoch, folder, g)
		return &telling{c.(*controllertest.Cluster), told}, err
	}
	var given string
	released := false
	p.Flags = func(flags *flag.FlagSet) { flags.StringVar(&given, "given", "", "a flag") }
	p.Lead = func(ctx context.Context) (context.Context, func(), error) {
		ctx, stop := context.WithCancel(ctx)
		lost <- stop
		return ctx, func() { released = true }, nil
	}
	shared, private := t.TempDir(), t.TempDir()
	ended := make(chan error)
	var text strings.Builder
	go func() {
		ended <- p.Run(t.Context(), []string{"-shared", shared, "-private", private, "-given", "x", "-listen", "127.0.0.1:0", "-look", "10ms"}, &text, &text)
	}()
	for jobs := range told {
		if jobs == 1 {
			break
		}
	}
	(<-lost)()
	if err := <-ended; err != nil || given != "x" || !released {
		t.Errorf("%v, %q, released: %v", err, given, released)
	}
	must.Have(os.Stat(filepath.Join(private, "user.token")))(t)
	must.Fail(os.Stat(filepath.Join(shared, "master")))(t, os.ErrNotExist, "the shared folder has a part of the program's own")
}
