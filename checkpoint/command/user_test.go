//go:build linux

// This file tests jobs that run as users of their own, below a runner that is root.

package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
)

// A user is read by numbers and by names, and written by numbers; root is nobody's user.
func TestParseUser(t *testing.T) {
	for text, want := range map[string]command.User{
		"1000:1001":             {UID: 1000, GID: 1001},
		"1000:1001,7,8":         {UID: 1000, GID: 1001, Groups: []uint32{7, 8}},
		"4294967294:4294967294": {UID: 4294967294, GID: 4294967294},
	} {
		got, err := command.ParseUser(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v, %s", text, err, diff)
		}
		must.Equal(t, got.String(), text, "is written as", got)
		var back command.User
		if data, err := json.Marshal(got); err != nil || json.Unmarshal(data, &back) != nil || cmp.Diff(want, back) != "" {
			t.Errorf("%s: %v becomes %v, %v", data, got, back, err)
		}
	}
	for text, want := range map[string]error{
		"": apportion.ErrUnknown, ":": apportion.ErrUnknown, "1000:": apportion.ErrUnknown, ":5": apportion.ErrUnknown, "1000:5,": apportion.ErrUnknown,
		"nobody-of-this-name": apportion.ErrUnknown, "1:no-such-group": apportion.ErrUnknown, "-1:5": apportion.ErrUnknown, "4294967296:1": apportion.ErrUnknown,
		"64999": apportion.ErrUnknown, "0:0": apportion.ErrRange, "0:5": apportion.ErrRange, "5:0": apportion.ErrRange, "5:5,0": apportion.ErrRange,
		"4294967295:1": apportion.ErrRange, "1:4294967295": apportion.ErrRange, "root": apportion.ErrRange,
	} {
		var fault *apportion.FieldError
		if u, err := command.ParseUser(text); !errors.Is(err, want) || !errors.As(err, &fault) || fault.Item.Kind != "user" {
			t.Errorf("%q: %+v, %v, want %v", text, u, err, want)
		}
	}
	before := command.User{UID: 7, GID: 7}
	if err := json.Unmarshal([]byte(`"0:0"`), &before); err == nil || before.UID != 7 {
		t.Errorf("root by JSON: %v, %v", before, err)
	}
	if data, err := json.Marshal(command.User{}); err == nil {
		t.Errorf("root is written as %s", data)
	}
	// This machine's own names, where it has any.
	if u, err := command.ParseUser("nobody"); err == nil && (u.UID == 0 || u.GID == 0 || u.Groups != nil) {
		t.Errorf("%+v", u)
	}
}

// Who may not start processes of another user is told so when it makes a runner, and so is who names root.
func TestUserIsRefused(t *testing.T) {
	_, err := command.New(command.Commands{Start: []string{"x"}, Work: t.TempDir()}, &command.Options{User: &command.User{UID: 1, GID: 0}})
	var fault *apportion.FieldError
	if !errors.Is(err, apportion.ErrRange) || !errors.As(err, &fault) || fault.Field != "User" {
		t.Errorf("root's group: %v", err)
	}
	if os.Geteuid() == 0 {
		return
	}
	if _, err := command.New(command.Commands{Start: []string{"x"}, Work: t.TempDir()}, &command.Options{User: &command.User{UID: 1, GID: 1}}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("without root: %v", err)
	}
}

// usersSite is a folder for runners of jobs with users of their own. It needs root.
type usersSite struct {
	*testing.T
	dir string
}

func newUsersSite(t *testing.T) *usersSite {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root starts processes of another user")
	}
	// The folders of package testing are closed to others.
	dir, err := os.MkdirTemp("", "command-user-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	must.Do(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &usersSite{t, dir}
}

func userOf(n uint32) *command.User {
	return &command.User{UID: 64010 + n, GID: 64020 + n, Groups: []uint32{64030}}
}

// start starts the n-th job as its own user, by a script that runs in the run's directory, which it returns; nothing of it lives after the test.
func (s *usersSite) start(n uint32, script string, options command.Options, restore string) (*command.Runner, runner.Run) {
	s.Helper()
	options.User = userOf(n)
	a := must.Have(command.New(command.Commands{Start: []string{"sh", "-c", script}, Work: filepath.Join(s.dir, "work")}, &options))(s)
	run := runner.Run{Job: fmt.Sprint("job", n), Attempt: 1, Containers: []string{"here"}, Dir: filepath.Join(s.dir, fmt.Sprint("checkpoints", n)), Restore: restore}
	s.Cleanup(func() {
		if err := a.Stop(s.Context(), run); err != nil && s.Context().Err() == nil {
			s.Error(err)
		}
		a.Close()
	})
	must.Do(s, a.Resume(s.Context(), run))
	return a, run
}

// await waits until a file is there, and returns its words.
func (s *usersSite) await(name string) []string {
	s.Helper()
	eventually(s.T, name+" is there", func() bool { _, err := os.Stat(name); return err == nil })
	text := must.Have(os.ReadFile(name))(s)
	return strings.Fields(string(text))
}

// saves is a trainer's end: it saves whenever it is asked.
const saves = `
while :; do
	if read -r n 2>/dev/null < "$APPORTION_SAVE_REQUEST" && [ "$n" != "$last" ]; then
		last=$n
		echo learnt > state
		echo "{\"request\": $n, \"files\": [\"${file-state}\"]}" > "$APPORTION_SAVE_ACK.tmp"
		mv "$APPORTION_SAVE_ACK.tmp" "$APPORTION_SAVE_ACK"
	fi
	sleep 0.02
done`

// A job runs as its own user, with the groups that were named and no way to more; it reads the checkpoint that it begins from, saves, and
// is stopped by its runner.
func TestUser(t *testing.T) {
	s := newUsersSite(t)
	restore := filepath.Join(s.dir, "restore")
	must.Do(t, errors.Join(os.MkdirAll(filepath.Join(restore, "deep"), 0o700), os.WriteFile(filepath.Join(restore, "deep", "old"), []byte("old state"), 0o600),
		os.Symlink("/etc/passwd", filepath.Join(restore, "link"))))
	a, run := s.start(1, `echo $(id -u) $(id -g) $(id -G) $(cat "$APPORTION_RESTORE_DIR/deep/old") > who.new
		grep -E 'NoNewPrivs|CapEff' /proc/self/status >> who.new
		touch "$HOME/mine" && echo at home >> who.new; echo x > /dev/stdout && echo heard >> who.new
		mv who.new who`+saves, command.Options{}, restore)
	got := s.await(filepath.Join(run.Dir, "who"))
	want := strings.Fields("64011 64021 64021 64030 old state NoNewPrivs: 1 CapEff: 0000000000000000 at home heard")
	slices.Sort(got)
	slices.Sort(want)
	must.Equal(t, cmp.Diff(want, got), "")
	// A link in the copy is the user's, what it names is not.
	if info, err := os.Stat("/etc/passwd"); err != nil || info.Sys().(*syscall.Stat_t).Uid == userOf(1).UID {
		t.Errorf("a link was followed: %v", err)
	}
	for range 2 {
		if saved, err := a.Save(t.Context(), run); err != nil || !slices.Equal(saved.Files, []string{"state"}) {
			t.Fatalf("%+v, %v", saved, err)
		}
	}
	must.Do(t, a.Stop(t.Context(), run))
	if p, err := a.Progress(t.Context(), run); err != nil || p.Running {
		t.Errorf("%+v, %v", p, err)
	}
}

// Of two jobs with users of their own neither can read or end what is the other's or the runner's; with the same numbers in the other's
// place it could.
func TestUsersAreApart(t *testing.T) {
	s := newUsersSite(t)
	_, other := s.start(2, "echo $$ > pid.new; mv pid.new pid"+saves, command.Options{Env: []string{"PATH=" + os.Getenv("PATH"), "SECRET=yes"}}, "")
	victim := s.await(filepath.Join(other.Dir, "pid"))[0]
	runFolder := filepath.Join(s.dir, "work", "job1", "run-1")
	// What is tried: all of it is refused to the job, and the first of each pair is allowed to whom it belongs.
	tries := []string{
		"kill -0 " + victim, "kill -9 " + victim, fmt.Sprint("kill -9 ", os.Getpid()), "cat /proc/" + victim + "/environ", fmt.Sprintf("cat /proc/%d/environ", os.Getpid()),
		"ls " + other.Dir, "cat " + other.Dir + "/pid", "touch " + other.Dir + "/new", "ls " + filepath.Join(s.dir, "work"), "ls " + filepath.Join(s.dir, "work", "job2"),
		"cat " + filepath.Join(s.dir, "work", "job2", "run-1", "rank-0.log"), "ls " + filepath.Join(s.dir, "work", "job2", "run-1", "own"),
		"cat " + filepath.Join(s.dir, "work", "job1", "lock"), "ls " + runFolder, "touch " + filepath.Join(runFolder, "new"), "rm " + filepath.Join(runFolder, "rank-0.log"),
		"sh -c 'echo 1 > " + filepath.Join(runFolder, "rank-0.json") + "'", "cat " + filepath.Join(s.dir, "secret"), "chown 0 .", "rm " + filepath.Join(s.dir, "secret"),
	}
	must.Do(t, os.WriteFile(filepath.Join(s.dir, "secret"), []byte("secret"), 0o600))
	script := "touch done refused\n"
	for _, try := range tries {
		script += fmt.Sprintf("if %s > /dev/null 2>&1; then echo \"%s\" >> done; else echo x >> refused; fi\n", try, try)
	}
	_, run := s.start(1, script+"touch tried"+saves, command.Options{}, "")
	s.await(filepath.Join(run.Dir, "tried"))
	if could, _ := os.ReadFile(filepath.Join(run.Dir, "done")); len(could) > 0 {
		t.Errorf("the job could:\n%s", could)
	}
	if refused, _ := os.ReadFile(filepath.Join(run.Dir, "refused")); len(strings.Fields(string(refused))) != len(tries) {
		t.Errorf("%d of %d were refused", len(strings.Fields(string(refused))), len(tries))
	}
	must.Do(t, syscall.Kill(os.Getpid(), 0))
}

// Another's file under a name in the job's directory, by a link of either kind, makes no checkpoint: the runner could read it, the job
// could not, and would be given it with the checkpoint.
func TestUserSavesItsOwnOnly(t *testing.T) {
	s := newUsersSite(t)
	a, run := s.start(1, "file=foreign; touch begun"+saves, command.Options{}, "")
	s.await(filepath.Join(run.Dir, "begun"))
	foreign := filepath.Join(run.Dir, "foreign")
	must.Do(t, os.WriteFile(filepath.Join(s.dir, "secret"), []byte("secret"), 0o600))
	for what, link := range map[string]func(old, name string) error{"hard link": os.Link, "link": os.Symlink} {
		must.Do(t, link(filepath.Join(s.dir, "secret"), foreign))
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		if saved, err := a.Save(ctx, run); err == nil {
			t.Errorf("%s: %+v", what, saved)
		}
		cancel()
		must.Do(t, os.Remove(foreign))
	}
	must.Do(t, errors.Join(os.WriteFile(foreign, nil, 0o600), os.Chown(foreign, int(userOf(1).UID), 0)))
	if saved, err := a.Save(t.Context(), run); err != nil {
		t.Errorf("its own: %+v, %v", saved, err)
	}
}
