// This file damages checkpoints in every way that one byte or one length can: half-written ones are never
// chosen.

package format_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/internal/must"
)

func TestNewest(t *testing.T) {
	for name, f := range fixtures() {
		t.Run(name, func(t *testing.T) {
			found := must.Have(f.format.Newest(f.dir()))(t)
			want := format.Found{Name: f.new, Files: f.newMembers, Step: f.step}
			must.Equal(t, cmp.Diff(want, found), "", "found")
			saved := found.Saved("/data")
			if saved.Dir != "/data" || saved.Step != f.step || !slices.Equal(saved.Files, f.newMembers) {
				t.Errorf("saved %+v", saved)
			}
		})
	}
}

// notNew fails unless the newest complete checkpoint is the old one, or none where the damaged file
// belongs to both.
func notNew(t *testing.T, f *fixture, name string, contents []byte) bool {
	t.Helper()
	found, err := f.format.Newest(f.with(name, contents))
	if shared := name == "net-symbol.json"; shared {
		return errors.Is(err, format.ErrNone)
	}
	return err == nil && found.Name == f.old && len(found.Skipped) == 1 && found.Skipped[0].Name == f.new &&
		strings.Contains(found.Skipped[0].Reason, format.ErrIncomplete.Error())
}

func TestTruncatedAtEveryLength(t *testing.T) {
	for name, f := range fixtures() {
		t.Run(name, func(t *testing.T) {
			for _, member := range f.newMembers {
				whole := f.files[member].bytes
				for length := range whole {
					if !notNew(t, f, member, whole[:length]) {
						t.Errorf("%s cut to %d of %d bytes is not noticed", member, length, len(whole))
					}
				}
			}
		})
	}
}

func TestFileMissing(t *testing.T) {
	for name, f := range fixtures() {
		t.Run(name, func(t *testing.T) {
			for _, member := range f.newMembers {
				found, err := f.format.Newest(f.with(member, nil))
				optional := member == "model.ckpt-100.meta" || member == "net-10000.states"
				if err == nil && found.Name == f.new && !optional {
					t.Errorf("%s is missing and not missed", member)
				}
				if optional && (err != nil || found.Name != f.new || slices.Contains(found.Files, member)) {
					t.Errorf("without %s: %+v, %v", member, found, err)
				}
			}
		})
	}
}

// TestFlippedAtEveryBit: damage of one bit is noticed in every byte that is not marked free, in files with
// checksums and in the structure of MXNet's arrays.
func TestFlippedAtEveryBit(t *testing.T) {
	for name, f := range fixtures() {
		t.Run(name, func(t *testing.T) {
			for _, member := range f.newMembers {
				if slices.Contains(f.unchecked, member) {
					continue
				}
				whole := f.files[member]
				step := 1
				if testing.Short() {
					step = 5 // meets every bit of a byte in turn
				}
				for bit := 0; bit < 8*len(whole.bytes); bit += step {
					damaged := bytes.Clone(whole.bytes)
					damaged[bit/8] ^= 1 << (bit % 8)
					if whole.free[bit/8] || notNew(t, f, member, damaged) || sameRecords(whole.bytes, damaged) {
						continue
					}
					t.Errorf("%s: bit %d of byte %d is not noticed", member, bit%8, bit/8)
				}
			}
		})
	}
}

// sameRecords reports whether two zip archives hold the same records: times and attributes in an archive
// are read by nobody.
func sameRecords(a, b []byte) bool {
	x, y := recordsOf(a), recordsOf(b)
	return x != nil && cmp.Equal(x, y)
}

func recordsOf(archive []byte) map[string]string {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil
	}
	records := map[string]string{}
	for _, f := range r.File {
		contents, err := f.Open()
		if err != nil {
			return nil
		}
		text, err := io.ReadAll(contents)
		if err != nil {
			return nil
		}
		records[f.Name] += "|" + string(text)
	}
	return records
}

// TestUncheckedBits counts what goes unnoticed in files without checksums: it is what the comments on the
// formats say, damage to numbers and names, and must not become more.
func TestUncheckedBits(t *testing.T) {
	unnoticed := func(f *fixture, member string) float64 {
		whole := f.files[member].bytes
		missed := 0
		for bit := range 8 * len(whole) {
			damaged := bytes.Clone(whole)
			damaged[bit/8] ^= 1 << (bit % 8)
			if !notNew(t, f, member, damaged) {
				missed++
			}
		}
		return float64(missed) / float64(8*len(whole))
	}
	for _, test := range []struct {
		f      *fixture
		member string
		most   float64
	}{
		{saverFixture(), "model.ckpt-100.meta", 0.8},
		{mxnetFixture(), "net-10000.states", 0.75},
		{mxnetFixture(), "net-symbol.json", 0.8},
		{caffeFixture(), "lenet_iter_1000.caffemodel", 0.9},
		{caffeFixture(), "lenet_iter_1000.solverstate", 0.9},
	} {
		share := unnoticed(test.f, test.member)
		t.Logf("%s: %.0f %% of all damaged bits go unnoticed", test.member, 100*share)
		if share > test.most {
			t.Errorf("%s: %.3f of all damaged bits go unnoticed, more than %.3f", test.member, share, test.most)
		}
	}
}
