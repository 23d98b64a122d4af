// This file tests the form of manifests: one form for each record, and no damage that goes unseen.

package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// record is one of the first version: it has digests alone.
func record(names ...string) Stored {
	r := Stored{Record: Record{Manifest: Manifest{Job: "lr", Number: 7, Parts: []Part{}}}}
	for _, name := range names {
		r.Parts = append(r.Parts, Part{Name: name, Bytes: int64(len(name)), SHA256: sha256.Sum256([]byte(name))})
	}
	return r
}

// seal puts the right first line in front of any body.
func seal(body string) []byte {
	return []byte(magic + "1 " + Digest(sha256.Sum256([]byte(body))).String() + "\n" + body)
}

func TestManifestRoundTrip(t *testing.T) {
	withPlace := record("weights")
	withPlace.Place = NewPlace(time.Unix(1_700_000_000, 0))
	large := record("weights")
	large.Number, large.Parts[0].Bytes = math.MaxInt64, math.MaxInt64
	for name, r := range map[string]Stored{
		"no part": record(), "two parts": record("weights", "optimizer/state"), "odd name": record(`<&>"größe 模型`),
		"place": withPlace, "large": large,
	} {
		data, err := Encode(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := ReadRecord(strings.NewReader(string(data)), "lr", r.Number)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Errorf("%s: (-written +read)\n%s", name, diff)
		}
	}
}

// TestManifestForm pins the bytes: what one version has written, the next must read. The sums are those
// of sha256sum.
func TestManifestForm(t *testing.T) {
	data := must.Have(Encode(record("weights")))(t)
	const want = `apportion-checkpoint 1 b16fba4a953a69067da9ca436fafeb72c936ad18b98a20324ac9253934b24410
{"job":"lr","number":7,"parts":[{"name":"weights","bytes":7,"sha256":"9a129038d9a00aed0cf6a7ea059ca50a813449061ab87848cf1a13eafdf33b2c"}]}
`
	if string(data) != want {
		t.Errorf("Encode returns\n%s\nwant\n%s", data, want)
	}
}

// TestManifestEveryBit flips each bit, cuts at each length, and doubles each byte of a manifest of either form.
func TestManifestEveryBit(t *testing.T) {
	for form, r := range map[string]Stored{"first": record("weights", "state"), "second": inline()} {
		data := must.Have(Encode(r))(t)
		refuse := func(what string, at int, damaged []byte) {
			t.Helper()
			if _, err := decodeOf(damaged, "lr", 7); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s form, %s %d: error %v, want ErrCorrupt", form, what, at, err)
			}
		}
		for i := range data {
			for bit := range 8 {
				damaged := slices.Clone(data)
				damaged[i] ^= 1 << bit
				refuse("a bit of byte", i, damaged)
			}
			refuse("cut at", i, data[:i])
			refuse("twice byte", i, slices.Concat(data[:i+1], data[i:]))
		}
		refuse("more than", len(data), append(slices.Clone(data), 0))
		refuse("a line more than", len(data), append(data, '\n'))
	}
}

// TestManifestSealedNonsense has the right checksum and says what no writer says.
func TestManifestSealedNonsense(t *testing.T) {
	const digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	part := func(fields string) string {
		return `{"job":"lr","number":7,"parts":[{` + fields + `,"sha256":"` + digest + `"}]}` + "\n"
	}
	if _, err := decodeOf(seal(part(`"name":"a","bytes":0`)), "lr", 7); err != nil {
		t.Fatalf("the form that the cases below change is refused: %v", err)
	}
	for name, body := range map[string]string{
		"empty":             "",
		"no newline":        `{"job":"lr","number":7,"parts":[]}`,
		"spaces":            `{"job":"lr", "number":7,"parts":[]}` + "\n",
		"null parts":        `{"job":"lr","number":7,"parts":null}` + "\n",
		"unknown field":     `{"job":"lr","number":7,"parts":[],"more":1}` + "\n",
		"field twice":       `{"job":"lr","job":"lr","number":7,"parts":[]}` + "\n",
		"other order":       `{"number":7,"job":"lr","parts":[]}` + "\n",
		"no job":            `{"job":"","number":7,"parts":[]}` + "\n",
		"bad place":         `{"job":"lr","number":7,"parts":[],"place":"../../x"}` + "\n",
		"two records":       `{"job":"lr","number":7,"parts":[]}` + "\n" + `{"job":"lr","number":7,"parts":[]}` + "\n",
		"name traverses":    part(`"name":"../a","bytes":0`),
		"no name":           part(`"name":"","bytes":0`),
		"negative bytes":    part(`"name":"a","bytes":-1`),
		"fraction of bytes": part(`"name":"a","bytes":0.5`),
		"too many bytes":    part(`"name":"a","bytes":9223372036854775808`),
		"short digest":      `{"job":"lr","number":7,"parts":[{"name":"a","bytes":0,"sha256":"e3"}]}` + "\n",
		"name twice":        `{"job":"lr","number":7,"parts":[{"name":"a","bytes":0,"sha256":"` + digest + `"},{"name":"a","bytes":0,"sha256":"` + digest + `"}]}` + "\n",
		"another job":       `{"job":"mf","number":7,"parts":[]}` + "\n",
		"another number":    `{"job":"lr","number":8,"parts":[]}` + "\n",
		"number zero":       `{"job":"lr","number":0,"parts":[]}` + "\n",
	} {
		if r, err := decodeOf(seal(body), "lr", 7); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %+v, error %v, want ErrCorrupt", name, r, err)
		}
	}
	for _, version := range []string{"2", "3", "0"} {
		good := string(seal(part(`"name":"a","bytes":0`)))
		_, err := decodeOf([]byte(strings.Replace(good, " 1 ", " "+version+" ", 1)), "lr", 7)
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("version %s: error %v, want ErrCorrupt", version, err)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	bad := func(change func(*Stored)) Stored {
		r := record("a")
		change(&r)
		return r
	}
	for name, test := range map[string]struct {
		r    Stored
		want error
	}{
		"job":       {bad(func(r *Stored) { r.Job = "a\x00" }), ErrName},
		"number":    {bad(func(r *Stored) { r.Number = -1 }), apportion.ErrRange},
		"part name": {bad(func(r *Stored) { r.Parts[0].Name = "/a" }), ErrName},
		"bytes":     {bad(func(r *Stored) { r.Parts[0].Bytes = -1 }), apportion.ErrNegative},
		"duplicate": {bad(func(r *Stored) { r.Parts = append(r.Parts, r.Parts[0]) }), apportion.ErrDuplicate},
		"place":     {bad(func(r *Stored) { r.Place = "1-x" }), errPlace},
	} {
		if _, err := Encode(test.r); !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", name, err, test.want)
		}
	}
}

// TestManifestSize refuses, when it is written, what is too large to be read.
func TestManifestSize(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a manifest of 64 MiB")
	}
	r := record()
	name := strings.Repeat("<", 255) + "/" + strings.Repeat("<", 255) // six bytes each in JSON
	for i := range maxManifestBytes / (6 * len(name)) {
		r.Parts = append(r.Parts, Part{Name: fmt.Sprint(i, "/", name)})
	}
	if _, err := Encode(r); !errors.Is(err, apportion.ErrRange) {
		t.Errorf("Encode of %d parts: error %v, want ErrRange", len(r.Parts), err)
	}
	r.Parts = r.Parts[:len(r.Parts)*9/10]
	data := must.Have(Encode(r))(t)
	if _, err := decodeOf(data, FolderOf(r.Job), r.Number); err != nil {
		t.Errorf("a manifest of %d bytes: %v", len(data), err)
	}
	if _, err := decodeOf(make([]byte, maxManifestBytes+1), "lr", 7); !errors.Is(err, ErrCorrupt) {
		t.Errorf("too many bytes: error %v, want ErrCorrupt", err)
	}
}

func TestPlace(t *testing.T) {
	now := time.Unix(1_700_000_000, 999_999_999)
	p, q := NewPlace(now), NewPlace(now)
	if p == q {
		t.Error("two writers have the same place")
	}
	for _, c := range []struct {
		after, age time.Duration
		want       bool
	}{
		{0, 0, false}, {time.Hour, time.Hour, false}, {time.Hour + 1, time.Hour, true},
		{-time.Hour, time.Hour, false}, {-time.Hour - 1, time.Hour, true}, {0, -1, true}, {100 * 365 * 24 * time.Hour, 24 * time.Hour, true},
	} {
		if got := p.Abandoned(now.Truncate(time.Second).Add(c.after), c.age); got != c.want {
			t.Errorf("%v later, age %v: abandoned is %v, want %v", c.after, c.age, got, c.want)
		}
	}
	word := string(p[len("1700000000-"):])
	for _, bad := range []Place{
		"", "-", Place(word), Place("-" + word), Place("1-"), Place("-1-" + word), Place("01-" + word), Place("+1-" + word),
		Place("1-" + word + "A"), Place("1-" + word[1:]), Place("1-" + strings.ToLower(word)), Place("1-/" + word[1:]),
		Place("1-A/" + word[2:]), Place("99999999999999999999-" + word), Place("1 -" + word),
	} {
		if bad.Abandoned(now, -1) {
			t.Errorf("%q passes as a place", bad)
		}
	}
}
