// This file lets several processes write into one store.

package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// Variables of the environment that make the test binary a writer, see TestMain.
const (
	envDir    = "APPORTION_TEST_FILESTORE_DIR"
	envWriter = "APPORTION_TEST_FILESTORE_WRITER"
)

// TestMain makes the test binary a process of TestProcesses if it is called as one: it waits for its
// standard input to end, so that all begin together, and commits numbers 1 to 20.
func TestMain(m *testing.M) {
	if os.Getenv(envDir) == "" {
		os.Exit(m.Run())
	}
	_, _ = os.Stdin.Read(make([]byte, 1))
	if err := commitAll(os.Getenv(envDir), os.Getenv(envWriter)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// processNumbers is how many checkpoints each process tries to commit.
const processNumbers = 20

// commitAll prints the numbers that a writer has won.
func commitAll(dir, writer string) error {
	s, err := Open(dir, nil)
	if err != nil {
		return err
	}
	for n := range int64(processNumbers) {
		w, err := storetest.Write(context.Background(), s, "job", n+1, writer)
		if err != nil {
			return err
		}
		switch _, err := w.Commit(); {
		case err == nil:
			fmt.Println(n + 1)
		case !errors.Is(err, store.ErrExists):
			return err
		}
		if err := w.Abort(); err != nil {
			return err
		}
	}
	return nil
}

// TestProcesses lets several processes commit different contents under the same numbers: of each number
// exactly one says that it has won, and its content is there.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	const processes = 4
	commands := make([]*exec.Cmd, processes)
	outputs := make([]strings.Builder, processes)
	gate, start, err := os.Pipe()
	must.Do(t, err)
	for i := range commands {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), envDir+"="+dir, envWriter+"="+fmt.Sprint("writer ", i))
		c.Stdin, c.Stdout, c.Stderr = gate, &outputs[i], os.Stderr
		must.Do(t, c.Start())
		commands[i] = c
	}
	must.Do(t, errors.Join(gate.Close(), start.Close()))
	winners := make(map[string]int)
	for i, c := range commands {
		must.Do(t, c.Wait(), "process", i)
		for _, n := range strings.Fields(outputs[i].String()) {
			if other, taken := winners[n]; taken {
				t.Errorf("number %s was won by %d and %d", n, other, i)
			}
			winners[n] = i
		}
	}
	s := open(t, dir, nil)
	for n := range int64(processNumbers) {
		data, err := storetest.Read(t.Context(), s, "job", n+1)
		winner, ok := winners[fmt.Sprint(n+1)]
		if err != nil || !ok || data != fmt.Sprint("writer ", winner) {
			t.Errorf("number %d holds %q, error %v; it was won by %d (%v)", n+1, data, err, winner, ok)
		}
	}
	if left := leftovers(t, dir); len(left) > 0 {
		t.Errorf("%q stayed", left)
	}
}
