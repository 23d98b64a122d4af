// This file tests what the programs of a cluster find each other by: the secret, the address of the master, the store.

package cluster

import (
	"encoding/json"
	"flag"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/internal/must"
)

// Of all who ask for the secret at the same time one makes it, nobody else can read it, and nothing is left beside it.
func TestSecret(t *testing.T) {
	p := Place(filepath.Join(t.TempDir(), "new"))
	texts := make([]string, 16)
	var all sync.WaitGroup
	for i := range texts {
		all.Go(func() {
			secret, err := p.Secret()
			if err != nil {
				t.Error(err)
			}
			text, _ := secret.MarshalText()
			texts[i] = string(text)
		})
	}
	all.Wait()
	for _, text := range texts {
		if text == "" || text != texts[0] {
			t.Fatalf("%d who asked have different secrets", len(texts))
		}
	}
	if entries, err := os.ReadDir(string(p)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v: want the secret alone", entries, err)
	}
	if info, err := os.Stat(p.Join("secret")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v: others can read it", info.Mode(), err)
	}
	other, err := Place(t.TempDir()).Secret()
	if text, _ := other.MarshalText(); err != nil || string(text) == texts[0] {
		t.Errorf("two clusters have the same secret, %v", err)
	}
	must.Do(t, os.WriteFile(p.Join("secret"), []byte("nonsense\n"), 0o600))
	must.Fail(p.Secret())(t, must.ErrAny, "a file that holds no secret is taken for one")
}

// The page's address is good for a day and for nothing else; there is none before a master was there.
func TestPage(t *testing.T) {
	p := Place(t.TempDir())
	must.Fail(p.Page())(t, fs.ErrNotExist, "without a master")
	must.Do(t, p.publish("http://127.0.0.1:7"))
	address, err := p.Page()
	if err != nil || !strings.HasPrefix(address, "http://127.0.0.1:7/") {
		t.Fatalf("%q, %v", address, err)
	}
	secret := must.Have(p.Secret())(t)
	link := must.Have(url.Parse(address))(t)
	now := time.Now()
	for after, want := range map[time.Duration]bool{0: true, 23 * time.Hour: true, 25 * time.Hour: false} {
		must.Equal(t, secret.Opens(link, now.Add(after)), want, "after", after, "it opens")
	}
	link.Path = "/list"
	if secret.Opens(link, now) {
		t.Error("the link of the page opens another path")
	}
}

// -dir is made absolute, and quantities are whole numbers with commas between; a second use of the flag takes the place of the first.
func TestFlagValues(t *testing.T) {
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	place := Flag(flags, "here")
	if !filepath.IsAbs(place.String()) || filepath.Base(place.String()) != "here" {
		t.Errorf("by default %s", place)
	}
	var r apportion.Resources
	ResourcesFlag(flags, &r, "demand", "")
	if err := flags.Parse([]string{"-dir", "/elsewhere", "-demand", "1", "-demand", "3, 4"}); err != nil || string(*place) != "/elsewhere" || !r.Equal(apportion.Resources{3, 4}) {
		t.Errorf("%s, %v, %v", place, r, err)
	}
	for _, text := range []string{"", "1,", "x", "1.5", "99999999999999999999"} {
		must.Err(t, flags.Parse([]string{"-demand", text}), must.ErrAny, "-demand", text, r)
	}
}

// Processes of jobs are found by what their environment says; those of another cluster, and others, are not.
func TestProcesses(t *testing.T) {
	p := Place(t.TempDir())
	start := func(env ...string) *exec.Cmd {
		cmd := exec.Command("sleep", "60")
		cmd.Env = env
		must.Do(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	own := start(command.EnvCheckpointDir+"="+filepath.Join(p.Shared(), "a", "3"), command.EnvJob+"=a", command.EnvAttempt+"=3", command.EnvRank+"=2")
	start(command.EnvCheckpointDir+"="+p.Shared()+"-of-another/a/1", command.EnvJob+"=a")
	start(command.EnvJob + "=a")
	// A child has its environment when its program has begun.
	var found []Process
	for end := time.Now().Add(time.Minute); len(found) == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		found = p.Processes()
	}
	want := Process{PID: own.Process.Pid, Job: "a", Attempt: 3, Rank: 2}
	if len(found) != 1 || found[0] != want {
		t.Fatalf("%+v, want %+v", found, want)
	}
	found[0].Kill()
	must.Err(t, own.Wait(), must.ErrAny, "it has ended as if nobody had killed it")
	if left := p.Processes(); len(left) > 0 {
		t.Errorf("%+v are left", left)
	}
}

// The command of a guard names the socket of its agent, at which another can listen when the agent before has died.
func TestGuardOf(t *testing.T) {
	folder := t.TempDir()
	argv, err := guardOf(folder)
	if err != nil || len(argv) != 4 || argv[1] != GuardWord || !strings.HasPrefix(argv[3], folder+"/") {
		t.Errorf("%q, %v", argv, err)
	}
	for range 2 {
		listener := must.Have(listenForGuards(folder))(t)
		// A process that dies leaves the file behind, which Close would remove.
		listener.(interface{ SetUnlinkOnClose(bool) }).SetUnlinkOnClose(false)
		must.Do(t, listener.Close())
	}
	must.Have(os.Stat(argv[3]))(t, "the socket is elsewhere")
}

// An agent's credential comes from its file where it has one, and otherwise from the secret: both speak for its server alone.
func TestCredential(t *testing.T) {
	p := Place(t.TempDir())
	made := must.Have((&AgentOptions{Server: apportion.Server{ID: "n1"}}).credential(p))(t)
	text := must.Have(json.Marshal(made))(t)
	file := p.Join("key")
	must.Do(t, os.WriteFile(file, text, 0o600))
	elsewhere := Place(t.TempDir()) // where there is no secret
	read, err := (&AgentOptions{Server: apportion.Server{ID: "n1"}, Key: file}).credential(elsewhere)
	if again, _ := json.Marshal(read); err != nil || string(again) != string(text) {
		t.Errorf("%v: %s, want %s", err, again, text)
	}
	if entries, _ := os.ReadDir(string(elsewhere)); len(entries) > 0 {
		t.Error("an agent with a key has made a secret")
	}
	other, err := (&AgentOptions{Server: apportion.Server{ID: "n2"}}).credential(p)
	if again, _ := json.Marshal(other); err != nil || string(again) == string(text) {
		t.Errorf("two servers have the same credential: %v", err)
	}
	for _, broken := range []string{"", "{"} {
		must.Do(t, os.WriteFile(file, []byte(broken), 0o600))
		must.Fail((&AgentOptions{Key: file}).credential(p))(t, must.ErrAny, broken, "is a credential")
	}
}
