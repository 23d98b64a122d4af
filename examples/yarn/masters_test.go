// This file tests what is ordered of masters of users' own, and what is read of them.

package yarn

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

const follower = "application_1_0042"

// following is a job whose master follows.
func following(t *testing.T) *submission {
	t.Helper()
	s := jobsOf(t, map[string]string{"lr.json": strings.Replace(goodJob, `"queue"`, `"application":"`+follower+`","queue"`, 1)})[0]
	if s.fault != nil || s.Application != follower {
		t.Fatalf("%+v", s)
	}
	return &s
}

// says writes the answer of a master.
func says(t *testing.T, y *yarn, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(y.masters.folder, follower, toldName, answerName), []byte(text), 0o600))
}

// ordered are the orders of the application.
func ordered(t *testing.T, y *yarn) orders {
	t.Helper()
	o := must.Have(y.masters.read(follower))(t)
	return *o
}

// A master is heard of before its job counts, and then told what to hold; the holder is told nothing.
func TestFollower(t *testing.T) {
	y, told := onHolder(t)
	s := following(t)
	ctx := t.Context()
	if why, err := y.open(ctx, s); err != nil || !strings.Contains(why, "has not said a word") {
		t.Fatalf("%q, %v", why, err)
	}
	says(t, y, `{"state":"open","stopped":0,"begun":0,"containers":[]}`)
	must.Equal(t, must.Have(y.open(ctx, s))(t), "")
	task := taskOf(t, 3)
	text := must.Have(json.Marshal(s))(t)
	task.Spec = text
	must.Do(t, y.Start(ctx, task))
	first, second := task.Servers()[0], task.Servers()[1]
	if o := ordered(t, y); o.Job != "lr" || o.Run["attempt"] != 3.0 || o.Run["memory"] != 500.0 || o.Stop != 0 {
		t.Errorf("%+v", o)
	}
	// It has not read that yet, which is no trouble.
	if got, _, err := y.Trouble(ctx, "lr", 3, second); err != nil || got != "" {
		t.Errorf("%q, %v", got, err)
	}
	// It has, and asks for some of the containers only, one of which is over.
	says(t, y, `{"state":"open","begun":3,"containers":[{"attempt":3,"server":"n1:1","state":"over","exit":-100,"id":"c1"}]}`)
	if got, _, err := y.Trouble(ctx, "lr", 3, first); err != nil || !strings.Contains(got, "c1, is over: -100") {
		t.Errorf("%q, %v", got, err)
	}
	if got, _, err := y.Trouble(ctx, "lr", 3, second); err != nil || !strings.Contains(got, "not asked for 2") {
		t.Errorf("%q, %v", got, err)
	}
	if found := y.ghosts(ctx); !strings.Contains(found["n1:1"], "lr") {
		t.Errorf("%v", found)
	}
	// Stops do not go back, and what is ended is so by its status.
	for _, attempt := range []int64{3, 2} {
		must.Have(y.Stop(ctx, "lr", attempt, "n1:1"))(t)
	}
	must.Do(t, y.end(ctx, "lr", "SUCCEEDED", "completed"))
	if o := ordered(t, y); o.Stop != 3 || o.Status != "SUCCEEDED" || o.Why != "completed" || o.Run["attempt"] != 3.0 {
		t.Errorf("%+v", o)
	}
	if list := told(); len(list) != 0 {
		t.Errorf("the holder was told %v", list)
	}
}

// What was ordered before this controller was started is found again, by the newest application of the job.
func TestFollowerOf(t *testing.T) {
	y, _ := onHolder(t)
	for _, id := range []string{"application_1_9", follower, "application_1_10"} {
		must.Have(y.masters.follow(id, "lr", following(t).User))(t)
	}
	must.Equal(t, must.Have(y.followerOf("lr"))(t), follower)
	// The file of the job says that it has no such master any more.
	y.followed["lr"] = ""
	must.Equal(t, must.Have(y.followerOf("lr"))(t), "")
	must.Equal(t, must.Have(y.followerOf("other"))(t), "")
	must.Do(t, y.masters.forget(follower))
	if known, err := y.masters.known(); err != nil || len(known) != 2 || known["application_1_10"] != "lr" {
		t.Errorf("%v, %v", known, err)
	}
}

// Whoever may write answers can have nothing else read or written in their place.
func TestAnswersOfStrangers(t *testing.T) {
	y, _ := onHolder(t)
	s := following(t)
	must.Have(y.masters.follow(follower, s.Job, s.User))(t)
	answer := filepath.Join(y.masters.folder, follower, toldName, answerName)
	secret := filepath.Join(t.TempDir(), "secret")
	must.Do(t, os.WriteFile(secret, []byte(`{"state":"open"}`), 0o600))
	for what, make := range map[string]func() error{
		"a link": func() error { return os.Symlink(secret, answer) },
		"a pipe": func() error {
			if err := syscall.Mkfifo(answer, 0o600); err != nil {
				return err
			}
			// Whoever reads it would wait for more, since its writer never ends.
			f, err := os.OpenFile(answer, os.O_RDWR, 0)
			if err == nil {
				t.Cleanup(func() { _ = f.Close() })
				_, err = f.WriteString(`{"state":"open"}`)
			}
			return err
		},
		"a folder": func() error { return os.Mkdir(answer, 0o700) },
		"half":     func() error { return os.WriteFile(answer, []byte(`{"state":"op`), 0o600) },
	} {
		must.Do(t, make())
		if h, err := y.masters.stands(follower); err == nil {
			t.Errorf("%s is read as %+v", what, h)
		}
		must.Do(t, os.RemoveAll(answer))
	}
	// No word of a job's master is a matter of other jobs.
	says(t, y, `{"state":3}`)
	if all, err := y.standing(t.Context()); err != nil || all["lr"].State != "opening" || !strings.Contains(all["lr"].Why, follower) {
		t.Errorf("%+v, %v", all, err)
	}
	for name, mode := range map[string]os.FileMode{"": 0o711, toldName: 0o700, ordersName: 0o600} {
		if info, err := os.Stat(filepath.Join(y.masters.folder, follower, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// The ID of an application is part of the name of a folder, so nothing else is one.
func TestBadApplications(t *testing.T) {
	for _, id := range []string{"application_1", "../application_1_2", "application_1_2/..", "job_1_2"} {
		list := jobsOf(t, map[string]string{"lr.json": strings.Replace(goodJob, `"queue"`, `"application":"`+id+`","queue"`, 1)})
		if len(list) != 1 || list[0].fault == nil || !strings.Contains(list[0].fault.Error(), "is not the ID") {
			t.Errorf("%q: %+v", id, list)
		}
	}
}

// A job whose master follows is as the application that its file names, which must be its user's own.
func TestKnownFollowers(t *testing.T) {
	text := strings.Replace(goodJob, `"queue"`, `"application":"`+follower+`","queue"`, 1)
	look := func(owner, state string) string {
		return became(t, text, func(s *submission) string {
			return `{"id":"` + follower + `","name":"mine","queue":"root.b.only","user":"` + cmp.Or(owner, s.User) + `","state":"` + state + `","applicationTags":""}`
		})
	}
	for state, want := range map[string]string{"RUNNING": "job of root.b.only", "ACCEPTED": "job of root.b.only", "KILLED": "withdrawn", "FAILED": "withdrawn", "FINISHED": "aside"} {
		must.Equal(t, look("", state), want, state)
	}
	if got := look("somebody", "RUNNING"); !strings.Contains(got, "knows no application "+follower) {
		t.Errorf("%q", got)
	}
}

// The folder of an application that is over goes when no job has its name any more.
func TestForgottenFollowers(t *testing.T) {
	y := onWords(t)
	y.jobs = t.TempDir()
	y.masters = &masters{folder: t.TempDir()}
	for _, id := range []string{"application_1_0009", "application_1_0010"} {
		must.Have(y.masters.follow(id, "gone", following(t).User))(t)
	}
	must.Have(y.Look(t.Context()))(t)
	// The first has failed, the second runs.
	if known, err := y.masters.known(); err != nil || len(known) != 1 || known["application_1_0010"] != "gone" {
		t.Errorf("%v, %v", known, err)
	}
}
