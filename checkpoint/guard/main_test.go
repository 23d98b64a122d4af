// This file tests the command line and what the program exits with.

package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/internal/must"
)

func TestStatus(t *testing.T) {
	refused := fmt.Errorf("late: %w", ErrRefused)
	for name, c := range map[string]struct {
		end  End
		err  error
		want int
	}{
		"well":         {End{}, nil, 0},
		"badly":        {End{Code: 3}, nil, 3},
		"a signal":     {End{Code: -1, Signal: "killed"}, nil, 137},
		"lease":        {End{Code: -1, Signal: "killed", Why: LeaseOver}, nil, 75},
		"fenced":       {End{Code: -1, Signal: "killed", Why: Fenced}, nil, 77},
		"late":         {End{}, refused, 77},
		"unreachable":  {End{}, fmt.Errorf("%w: %w", refused, context.DeadlineExceeded), 75},
		"told to end":  {End{}, fmt.Errorf("%w: %w", refused, context.Canceled), 75},
		"no such file": {End{}, errors.New("no such file"), 70},
	} {
		must.Equal(t, status(c.end, c.err), c.want, name)
	}
}

func TestParse(t *testing.T) {
	for name, value := range map[string]string{"JOB": "lr", "ATTEMPT": "5", "SERVER": "s1", "EPOCH": "3"} {
		t.Setenv("APPORTION_"+name, value)
	}
	t.Setenv("TMPDIR", t.TempDir()) // where a guard without a folder makes one
	token := filepath.Join(t.TempDir(), "token")
	credential := wire.NewSecret().Credential(wire.Party{Role: wire.Guard})
	text := must.Have(json.Marshal(credential))(t)
	bad := filepath.Join(t.TempDir(), "bad")
	must.Do(t, errors.Join(os.WriteFile(token, text, 0o600), os.WriteFile(bad, []byte("secret\n"), 0o600)))
	c, err := parse([]string{"-url", "http://x", "-token-file", token, "-save", "SIGUSR2", "-grace", "1s", "--", "sh", "-c", "exit"}, io.Discard, nil)
	if err != nil || c.Job != "lr" || c.Attempt != 5 || c.Epoch != 3 || c.Save != signals["USR2"] || len(c.Argv) != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	if h, ok := c.Authority.(*HTTP); !ok || h.URL != "http://x" || h.Credential != credential {
		t.Errorf("%+v", c.Authority)
	}
	// The number of the container and the files of saves are told to the trainer as well.
	dir := t.TempDir()
	c, err = parse([]string{"-socket", "s", "-rank", "4+2", "-dir", dir, "-every", "1s", "-start", "7s", "sh"}, io.Discard, nil)
	if err != nil || c.Rank != 6 || c.Every != time.Second || c.Start != 7*time.Second || c.Request != filepath.Join(dir, "request") || c.Acknowledgement != filepath.Join(dir, "acknowledgement") {
		t.Errorf("%+v, %v", c, err)
	}
	for _, want := range []string{"APPORTION_RANK=6", "APPORTION_SAVE_REQUEST=" + c.Request, "APPORTION_SAVE_ACK=" + c.Acknowledgement} {
		if !slices.Contains(c.Env, want) {
			t.Errorf("the trainer is not told %s", want)
		}
	}
	if c, err := parse([]string{"-socket", "/s", "sh"}, io.Discard, nil); err != nil || c.Authority.(*HTTP).Client == nil || c.Held != nil {
		t.Errorf("%+v, %v", c, err)
	}
	for args, want := range map[string]string{
		"-socket s -rank 4+ sh":             "-rank",
		"-socket s -rank -1 sh":             "-rank",
		"-socket s -rank 2147483647+1 a":    "-rank",
		"sh":                                "-url or -socket",
		"-url u -socket s sh":               "-url or -socket",
		"-socket s":                         "Argv",
		"-url u sh":                         "-token-file",
		"-socket s -save STOP sh":           "-save",
		"-url u -token-file " + bad + " sh": "credential",
		"-url u -token-file /nowhere a":     "/nowhere",
		"-url u -token-file " + token + " -ca /nowhere a":    "/nowhere",
		"-url u -token-file " + token + " -ca " + bad + " a": "no certificate",
	} {
		var text strings.Builder
		if got := Main(nil, strings.Fields(args), &text); got != exitUsage || !strings.Contains(text.String(), want) {
			t.Errorf("%s: %d, %s", args, got, text.String())
		}
	}
	must.Equal(t, Main(nil, []string{"-help"}, io.Discard), 0, "-help")
	// A cluster starts many guards on a machine: nothing of one is left.
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	must.Equal(t, Main(nil, []string{"-socket", "/s"}, io.Discard), exitUsage, "no command")
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
