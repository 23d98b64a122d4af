// This file tests the form of manifests: one form for each record, and no damage that goes unseen.

package store

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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

func seal(body string) []byte {
	return []byte(magic + "1 " + Digest(sha256.Sum256([]byte(body))).String() + "\n" + body)
}

// TestManifestForm pins the bytes: what one version has written, the next must read. The sums are those
// of sha256sum.
func TestManifestForm(t *testing.T) {
	data := must.Have(Encode(record("weights")))(t)
	const want = `apportion-checkpoint 1 b16fba4a953a69067da9ca436fafeb72c936ad18b98a20324ac9253934b24410
{"job":"lr","number":7,"parts":[{"name":"weights","bytes":7,"sha256":"9a129038d9a00aed0cf6a7ea059ca50a813449061ab87848cf1a13eafdf33b2c"}]}
`
	must.Equal(t, string(data), want, "Encode returns", data)
}

// TestManifestEveryBit flips each bit, cuts at each length, and doubles each byte of a manifest of either form.
func TestManifestEveryBit(t *testing.T) {
	for form, r := range map[string]Stored{"first": record("weights", "state"), "second": inline()} {
		data := must.Have(Encode(r))(t)
		refuse := func(what string, at int, damaged []byte) {
			t.Helper()
			must.Fail(decodeOf(damaged, "lr", 7))(t, ErrCorrupt, form, "form", what, at, "error", "want ErrCorrupt")
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
	must.Fail(Encode(r))(t, apportion.ErrRange, "Encode of", len(r.Parts), "parts: error", "want ErrRange")
	r.Parts = r.Parts[:len(r.Parts)*9/10]
	data := must.Have(Encode(r))(t)
	must.Have(decodeOf(data, FolderOf(r.Job), r.Number))(t, "a manifest of", len(data), "bytes")
	must.Fail(decodeOf(make([]byte, maxManifestBytes+1), "lr", 7))(t, ErrCorrupt, "too many bytes: error", "want ErrCorrupt")
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
		must.Equal(t, p.Abandoned(now.Truncate(time.Second).Add(c.after), c.age), c.want, c.after, "later, age", c.age, "abandoned")
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

// A manifest that lies in the folder of another job, or below another number, is damage; so is one with two parts of one name.
func TestManifestElsewhere(t *testing.T) {
	data := must.Have(Encode(record("weights")))(t)
	must.Have(decodeOf(data, "lr", 7))(t)
	must.Fail(decodeOf(data, "vae", 7))(t, ErrCorrupt, "of another job")
	must.Fail(decodeOf(data, "lr", 8))(t, ErrCorrupt, "of another number")
	must.Fail(Encode(record("weights", "weights")))(t, apportion.ErrDuplicate, "two parts")
}
