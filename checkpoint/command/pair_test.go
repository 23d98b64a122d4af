//go:build linux

// This file tests jobs whose checkpoint is several files: none of them is saved, or resumed from, without the others.

package command_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/internal/must"
)

// pair saves a model and an optimizer, and names both, none or one of them, as its second argument says.
func pair() {
	report(1)
	for number := int64(1); ; time.Sleep(time.Millisecond) {
		if requested() < number {
			continue
		}
		model, optimizer := fmt.Sprintf("model-%d.pt", number), fmt.Sprintf("optimizer-%d.pt", number)
		orExit(os.WriteFile(own(model), archive("weights"), 0o600))
		orExit(os.WriteFile(own(optimizer), archive("moments"), 0o600))
		acknowledge(number, number, slices.DeleteFunc([]string{model, optimizer}, func(name string) bool {
			return !strings.Contains(os.Args[2], name[:5])
		})...)
		number++
	}
}

// A job that saves its model and its optimizer apart gets both back when it names both.
func TestPair(t *testing.T) {
	s := newSite(t, &command.Options{Format: format.PyTorch{StepsPerNumber: 10}, Acknowledge: true}, "pair", "model optim")
	run := s.run(1)
	s.resume(t, run)
	s.reaches(t, run, 1)
	for n := 1; n <= 3; n++ {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		saved, err := s.Save(ctx, run)
		cancel()
		want := []string{fmt.Sprintf("model-%d.pt", n), fmt.Sprintf("optimizer-%d.pt", n)}
		if diff := cmp.Diff(want, saved.Files); err != nil || diff != "" || saved.Step != int64(10*n) {
			t.Fatalf("%+v, %v (-want +got):\n%s", saved, err, diff)
		}
	}
}

// One that does not name its files gets an answer that says so, and no half of a checkpoint.
func TestPairUnnamed(t *testing.T) {
	s := newSite(t, &command.Options{Format: format.PyTorch{}, Acknowledge: true}, "pair", "")
	run := s.run(1)
	s.resume(t, run)
	s.reaches(t, run, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	saved, err := s.Save(ctx, run)
	if !errors.Is(err, format.ErrAmbiguous) || !strings.Contains(err.Error(), "acknowledgement") || len(saved.Files) != 0 {
		t.Errorf("%+v, %v", saved, err)
	}
}

// All that a restored directory holds belongs together, whatever it is called, in folders as well.
func TestPairIsRestored(t *testing.T) {
	s := newSite(t, &command.Options{Format: format.PyTorch{StepsPerNumber: 10}}, "env")
	run := s.run(1)
	run.Restore = t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(run.Restore, "state"), 0o700))
	for _, name := range []string{"model-12.pt", "state/optimizer-12.pt"} {
		must.Do(t, os.WriteFile(filepath.Join(run.Restore, name), archive("state"), 0o600))
	}
	s.resume(t, run)
	eventually(t, "done", func() bool { return s.progress(t, run).Done })
	if p := s.progress(t, run); p.Step != 120 {
		t.Errorf("%+v", p)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "env-0"))
	if want := "APPORTION_RESTORE=" + run.Restore + "\n"; err != nil || !strings.Contains(string(text)+"\n", want) {
		t.Errorf("no %s: %v", want, err)
	}
	// Half of it is damage.
	must.Do(t, os.WriteFile(filepath.Join(run.Restore, "state/optimizer-12.pt"), archive("state")[:20], 0o600))
	again := s.run(2)
	again.Restore = run.Restore
	if err := s.Resume(t.Context(), again); !errors.Is(err, format.ErrNone) || !strings.Contains(err.Error(), "optimizer-12.pt") {
		t.Errorf("half a checkpoint is resumed from: %v", err)
	}
}
