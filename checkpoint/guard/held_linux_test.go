// This file tests the descriptor that a guard is handed.

package guard

import (
	"io"
	"os"
	"strconv"
	"syscall"
	"testing"
)

// A descriptor that is held is the guard's own from then on: it closes it.
func TestParseHeld(t *testing.T) {
	held, err := syscall.Dup(int(os.Stderr.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	c, err := parse([]string{"-socket", "/s", "-held", strconv.Itoa(held), "sh"}, io.Discard)
	if err != nil || c.Held == nil || c.Held.Fd() != uintptr(held) {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := c.Held.Close(); err != nil {
		t.Error(err)
	}
}
