// This file reads the documents in testdata/cases, holds what they come to to a decision, and changes them at random.

package managers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
)

// A case is documents; the answer is the problem, and behind it what was left out.
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, unread, err := Read(strings.NewReader(d.Input))
			if err != nil {
				return err.Error() + "\n"
			}
			var out bytes.Buffer
			if text(t, p.Applications) == "null" {
				t.Error("applications are null in JSON")
			}
			fmt.Fprintln(&out, strings.Join(p.Kinds, " "))
			for _, s := range p.Servers {
				fmt.Fprintln(&out, "server", text(t, s))
			}
			for _, a := range p.Applications {
				fmt.Fprintln(&out, "application", text(t, a), text(t, p.Previous[a.ID]))
			}
			for _, u := range unread {
				fmt.Fprintf(&out, "left out: %s: %s\n", u.Item, u.Why)
			}
			// What was read can be decided: nothing that runs is where it could not be.
			decision, err := alloc.Reallocate(t.Context(), p, nil)
			if err != nil {
				t.Error(err)
			} else if decision.Metrics.Forced > 0 && !strings.Contains(d.Input, "DRAIN") {
				t.Errorf("%d must move that run", decision.Metrics.Forced)
			}
			return out.String()
		})
	})
}

func text(t *testing.T, v any) string {
	text := must.Have(json.Marshal(v))(t)
	return string(text)
}

// TestSlurmAsPrinted reads what Slurm itself has printed, texts of users with line ends, quotes and bytes that are no text included.
func TestSlurmAsPrinted(t *testing.T) {
	var all []byte
	for _, name := range []string{"sinfo.json", "squeue.json"} {
		text, err := os.ReadFile(filepath.Join("../../slurm/testdata", name))
		if err != nil {
			t.Skip(err) // another module
		}
		all = append(all, text...)
	}
	p, unread, err := Read(bytes.NewReader(all))
	if err != nil || len(p.Servers) == 0 || len(p.Applications)+len(unread) < 6 {
		t.Fatalf("%+v, %+v, %v", p, unread, err)
	}
}

// TestDamaged takes fields and bytes out of right documents: each time there is a problem that Validate takes, or an error.
func TestDamaged(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	paths, err := filepath.Glob("testdata/cases/*")
	if err != nil || len(paths) < 4 {
		t.Fatal(paths, err)
	}
	read, refused := 0, 0
	for _, path := range paths {
		text := must.Have(os.ReadFile(path))(t)
		_, documents, _ := strings.Cut(string(text), "read\n")
		documents, _, _ = strings.Cut(documents, "\n----")
		for range 2000 {
			damaged := []byte(documents)
			at := rng.IntN(len(damaged))
			switch rng.IntN(4) {
			case 0:
				damaged = damaged[:at]
			case 1:
				damaged[at] ^= byte(1 << rng.IntN(7))
			case 2: // a number is another one
				for n := range damaged[at:] {
					if c := damaged[at+n]; c >= '0' && c <= '9' {
						damaged = slices.Insert(damaged, at+n, []byte(strings.Repeat("9", rng.IntN(25)))...)
						break
					}
				}
			case 3: // a text is no text any more
				if end := bytes.IndexByte(damaged[at:], '"'); end >= 0 {
					damaged = slices.Delete(damaged, at+end, at+end+1)
				}
			}
			p, _, err := Read(bytes.NewReader(damaged))
			var faults apportion.Faults
			if errors.As(err, &faults) {
				t.Errorf("%v\n%s\nmakes a problem that is none", err, damaged)
			}
			if err != nil {
				refused++
				continue
			}
			read++
			must.Do(t, p.Validate(), damaged)
		}
	}
	if read < 100 || refused < 100 {
		t.Errorf("%d were read, %d refused", read, refused)
	}
}

func TestNodesIn(t *testing.T) {
	for list, want := range map[string]string{
		"n1": "map[n1:1]", "n[1-3]": "map[n1:1 n2:1 n3:1]", "n[08-10,2]-x,m": "map[m:1 n08-x:1 n09-x:1 n10-x:1 n2-x:1]",
		"": "error", "n[3-1]": "error", "n[a]": "error", "n[1-99999999999]": "error",
	} {
		got := "error"
		if on, err := nodesIn(list); err == nil {
			got = fmt.Sprint(on)
		}
		must.Equal(t, got, want, list)
	}
}
