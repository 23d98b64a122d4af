// This file tests what a guard is handed by its command line that Linux alone has.

package guard

import (
	"io"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// A descriptor that is held is the guard's own from then on: it closes it.
func TestParseHeld(t *testing.T) {
	held := must.Have(syscall.Dup(int(os.Stderr.Fd())))(t)
	for name, value := range map[string]string{"APPORTION_JOB": "lr", "APPORTION_ATTEMPT": "5", "APPORTION_SERVER": "s1", EnvEpoch: "3"} {
		t.Setenv(name, value)
	}
	c, err := parse([]string{"-socket", "/s", "-dir", t.TempDir(), "-held", strconv.Itoa(held), "-save", "SIGUSR2", "sh"}, io.Discard, nil)
	if err != nil || c.Held == nil || c.Held.Fd() != uintptr(held) || c.Save != syscall.SIGUSR2 {
		t.Fatalf("%v, %v, %v", c.Held, c.Save, err)
	}
	must.Do(t, c.Held.Close())
}
