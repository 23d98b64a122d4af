// This file plays jobs of two ordinary users on a real Slurm cluster, with a controller that is root.

package slurm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/managertest/processes"
)

// person is an ordinary user of the test's own making, with a group beside the first.
type person struct {
	*user.User
	*syscall.Credential
}

// newPerson makes a user until the test ends, whose home is in the folder of the cluster. Slurm starts no jobs of users that the
// system does not know.
func (b *bench) newPerson(name string) *person {
	b.Bench.Helper()
	name = "apportion-" + name
	home := filepath.Join(b.Dir, "home-"+name)
	run := func(args ...string) {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			b.Bench.Skipf("users cannot be made here: %v: %v: %s", args, err, out)
		}
	}
	run("useradd", "--user-group", "--groups", "users", "--create-home", "--home-dir", home, "--shell", "/bin/sh", name)
	b.Bench.Cleanup(func() {
		if out, err := exec.Command("userdel", "--force", name).CombinedOutput(); err != nil {
			b.Bench.Errorf("userdel %s: %v: %s", name, err, out)
		}
	})
	found, err := user.Lookup(name)
	if err != nil {
		b.Bench.Fatal(err)
	}
	users, err := user.LookupGroup("users")
	if err != nil {
		b.Bench.Fatal(err)
	}
	p := &person{found, &syscall.Credential{Uid: b.number(found.Uid), Gid: b.number(found.Gid), Groups: []uint32{b.number(found.Gid), b.number(users.Gid)}}}
	// What the test writes there is for the user to read.
	err = os.Chmod(home, 0o755)
	// And this for the second group alone: a guard that contains a run by a user namespace leaves it no number there.
	secret := filepath.Join(home, "secret")
	if err = errors.Join(err, os.WriteFile(secret, []byte("of users"), 0o640), os.Chown(secret, 0, int(p.Groups[1]))); err != nil {
		b.Bench.Fatal(err)
	}
	return p
}

func (b *bench) number(text string) uint32 {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		b.Bench.Fatal(err)
	}
	return uint32(n)
}

// as runs a program as a user and returns what it prints.
func (b *bench) as(p *person, program string, args ...string) string {
	b.Bench.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = p.HomeDir
	cmd.Env = append(os.Environ(), "HOME="+p.HomeDir, "USER="+p.Username, "WORD=it's")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.Credential}
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Bench.Fatalf("%s %v as %s: %v: %s", program, args, p.Username, err, out)
	}
	return strings.TrimSpace(string(out))
}

// submitAs submits an elastic job as a user. It tells as whom it runs, and what it was told.
func (b *bench) submitAs(p *person, name string, most int) string {
	b.Bench.Helper()
	file := filepath.Join(p.HomeDir, "train.sh")
	script := fmt.Sprintf(`#!/bin/sh
[ "$APPORTION_RANK" = 0 ] && echo "$(id -u):$(id -g) $(cat secret) $1|$2|$WORD" >> ids
mkdir -p "locks of $APPORTION_JOB"
exec %s train -steps 100000 -cost 1ms -locks "locks of $APPORTION_JOB"
`, b.Trainer)
	if err := os.WriteFile(file, []byte(script), 0o755); err != nil {
		b.Bench.Fatal(err)
	}
	number := b.as(p, filepath.Join(b.Dir, "controller"), "submit", "--parsable", "--job-name="+name, "--cpus-per-task=1", "--mem-per-cpu=500",
		"--comment=apportion max="+strconv.Itoa(most), file, "--lr=0.1 2", "b'")
	return name + "." + number
}

// Jobs of two users, of which one is to be root by its name, and another a part of the first, run as their users, outlive resizes, and are secret to each other.
func TestUsers(t *testing.T) {
	b := newBench(t, 3)
	anna, bob := b.newPerson("anna"), b.newPerson("bob")
	first := b.submitAs(anna, "x UserId=root(0) GroupId=root(0)", 24)
	b.ran(anna, 1)
	b.Holds(map[string]int{first: 24})
	second := b.submitAs(bob, nameOf(first, 9, "n1"), 24)
	b.Holds(map[string]int{first: 12, second: 12})
	third := b.submitAs(bob, "c", 24)
	b.Holds(map[string]int{first: 8, second: 8, third: 8})
	_ = b.as(bob, "scancel", numberOf(third))
	b.Holds(map[string]int{first: 12, second: 12})
	b.Saved(first, second)
	for p, id := range map[*person]string{anna: first, bob: second} {
		b.ran(p, 3) // two resizes are three
		b.Hidden(id, p.Credential, map[*person]*person{anna: bob, bob: anna}[p].Credential)
	}
	b.Check()
}

// ran waits until a user's jobs have had so many runs, and checks as whom each of them ran, and what it was told.
func (b *bench) ran(p *person, runs int) {
	b.Bench.Helper()
	want := fmt.Sprintf("%d:%d of users --lr=0.1 2|b'|it's", p.Credential.Uid, p.Credential.Gid)
	processes.Eventually(b.Bench, fmt.Sprintf("%d runs of %s have begun", runs, p.Username), 60*time.Second, func() bool {
		text, _ := os.ReadFile(filepath.Join(p.HomeDir, "ids")) // it may not be there yet
		lines := strings.Split(string(text), "\n")
		for _, line := range lines[:len(lines)-1] {
			if line != want {
				b.Bench.Fatalf("a run of %s says %q, want %q", p.Username, line, want)
			}
		}
		return len(lines) > runs
	})
}
