//go:build unix

// This file kills processes in the middle of a load, and has others go on beside them.

package store_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/must"
)

// loadHere says in the environment of this test's program into which directory it is to load.
const loadHere = "STORE_TEST_LOAD"

// halting is a store with a checkpoint that comes through this program's input, and not before somebody writes it there.
type halting struct{ foreign }

func (h *halting) Open(context.Context, string, int64) (store.Reader, error) { return h, nil }

func (h *halting) Part(string) (io.ReadCloser, error) {
	fmt.Println("loading")
	return os.Stdin, nil
}

// TestLoadHalts is the process that loads.
func TestLoadHalts(t *testing.T) {
	if os.Getenv(loadHere) == "" {
		t.Skip("it is a process of TestKilledInALoad")
	}
	h := &halting{foreign{manifest: store.Manifest{Parts: []store.Part{{Name: "a"}}}}}
	must.Have(store.Load(t.Context(), h, "lr", 1, os.Getenv(loadHere)))(t)
}

// What a process has left that was killed is removed by the next load beside it, and what one fills that lives is not, stopped as it may be.
func TestKilledInALoad(t *testing.T) {
	parent := t.TempDir()
	loads := func(name string) (*exec.Cmd, io.WriteCloser) {
		self := must.Have(os.Executable())(t)
		cmd := exec.Command(self, "-test.run", "^TestLoadHalts$")
		cmd.Env = append(os.Environ(), loadHere+"="+filepath.Join(parent, name))
		words := must.Have(cmd.StdinPipe())(t)
		says := must.Have(cmd.StdoutPipe())(t)
		must.Do(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended
		lines := bufio.NewScanner(says)
		for lines.Scan() && lines.Text() != "loading" {
		}
		go func() { _, _ = io.Copy(io.Discard, says) }()
		return cmd, words
	}
	listed := func() string {
		entries := must.Have(os.ReadDir(parent))(t)
		var names []string
		for _, e := range entries {
			name, _, _ := strings.Cut(e.Name(), "-")
			names = append(names, name)
		}
		return strings.Join(names, " ")
	}
	killed, _ := loads("killed")
	lives, words := loads("lives")
	must.Do(t, killed.Process.Kill())
	_ = killed.Wait() // by the kill
	must.Equal(t, listed(), ".loading .loading", "there")
	whole := &foreign{manifest: store.Manifest{Parts: []store.Part{{Name: "a"}}}, text: "whole"}
	must.Have(store.Load(t.Context(), whole, "lr", 2, filepath.Join(parent, "next")))(t)
	must.Equal(t, listed(), ".loading next", "there")
	must.Have(io.WriteString(words, "late"))(t)
	must.Do(t, words.Close())
	must.Do(t, lives.Wait())
	if text, err := os.ReadFile(filepath.Join(parent, "lives", "a")); string(text) != "late" || listed() != "lives next" {
		t.Errorf("there are %s, and it has loaded %q, %v", listed(), text, err)
	}
}

// Loads beside each other take nothing from each other, however many there are.
func TestLoadsBesideEachOther(t *testing.T) {
	parent := t.TempDir()
	whole := &foreign{manifest: store.Manifest{Parts: []store.Part{{Name: "a"}}}, text: "whole"}
	var all sync.WaitGroup
	for n := range 8 {
		dir := filepath.Join(parent, fmt.Sprint(n))
		all.Go(func() {
			for range 100 {
				if _, err := store.Load(t.Context(), whole, "lr", 1, dir); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	must.Equal(t, len(must.Have(os.ReadDir(parent))(t)), 8, "directories")
}
