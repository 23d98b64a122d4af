// This file tests the second version of the form: sums of chunks, and parts that are kept with the manifest.

package store

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/internal/must"
)

// sumsOf returns the sums of a content, chunk by chunk.
func sumsOf(data []byte) Sums {
	var sums strings.Builder
	for chunk := range slices.Chunk(data, ChunkBytes) {
		fmt.Fprintf(&sums, "%08x", crc32.Checksum(chunk, crc32.MakeTable(crc32.Castagnoli)))
	}
	return Sums(sums.String())
}

// inline is a record of the second version: two parts with the manifest, one part without bytes, one apart.
func inline() Stored {
	m := Manifest{Job: "lr", Number: 7, Parts: []Part{
		{Name: "first", Bytes: 5, CRC32C: sumsOf([]byte("alpha"))},
		{Name: "apart", Bytes: ChunkBytes + 1, CRC32C: "0123456789abcdef"},
		{Name: "empty"},
		{Name: "line", Bytes: 2, CRC32C: sumsOf([]byte("}\n"))},
	}}
	return Stored{Record{Manifest: m, Inline: []int{0, 2, 3}}, [][]byte{[]byte("alpha"), {}, []byte("}\n")}}
}

// The bytes are pinned: what one version has written, the next must read. The sums are those of sha256sum and of
// another implementation of CRC-32C.
func TestSecondForm(t *testing.T) {
	data := must.Have(Encode(inline()))(t)
	const want = `{"job":"lr","number":7,"parts":[{"name":"first","bytes":5,"crc32c":"78d92f81"},` +
		`{"name":"apart","bytes":1048577,"crc32c":"0123456789abcdef"},{"name":"empty","bytes":0},` +
		`{"name":"line","bytes":2,"crc32c":"e5e6b17e"}],"inline":[0,2,3]}` + "\nalpha}\n"
	header, rest, _ := strings.Cut(string(data), "\n")
	if rest != want || !strings.HasPrefix(header, "apportion-checkpoint 2 ") {
		t.Errorf("Encode returns\n%s\nwant\n%s", data, want)
	}
	got, err := decodeOf(data, "lr", 7)
	if diff := cmp.Diff(inline(), got); err != nil || diff != "" {
		t.Errorf("%v (-written +read)\n%s", err, diff)
	}
}

// TestKeepAllocates: a part that comes in small pieces, and is kept, takes at most a third more than it is long, and one that is
// short not the memory of a long one.
func TestKeepAllocates(t *testing.T) {
	for _, c := range []struct{ length, most int }{{1 << 20, 4 << 20 / 3}, {100, 400}, {1, 4}} {
		p := &part{limit: 1 << 20}
		taken := 0
		for range c.length {
			before := cap(p.kept)
			p.keep([]byte{'x'})
			if cap(p.kept) != before {
				taken += cap(p.kept)
			}
		}
		if len(p.kept) != c.length || taken > c.most+c.most/4 || cap(p.kept) > 4*c.length {
			t.Errorf("%d bytes, %d of them kept: %d taken in all, %d at last", c.length, len(p.kept), taken, cap(p.kept))
		}
	}
}

// Small parts never meet the medium, until they are together too long; what was kept of a long one is not lost.
func TestKeptParts(t *testing.T) {
	for _, c := range []struct {
		limit   int
		lengths []int
		objects int
	}{
		{0, []int{0, 1, defaultInlineBytes}, 0},
		{0, []int{defaultInlineBytes + 1, 5}, 1},
		{10, []int{10, 11, 0, 9}, 1},
		{-1, []int{0, 1}, 2},
		{math.MaxInt, []int{maxInline - 1, 1, 0, 1}, 1},
		{10, []int{10, 10, 10, 9, 1, 1, 0}, 1},
		{0, slices.Repeat([]int{60 << 10}, 6), 2},
	} {
		f := &fake{}
		w := newWriter(t.Context(), "job", 1, Form{InlineBytes: c.limit}, f)
		want := map[string][]byte{}
		rng := rand.New(rand.NewPCG(uint64(c.limit), 3))
		for i, length := range c.lengths {
			name := fmt.Sprint(i)
			part := must.Have(w.Part(name))(t)
			data := bytes.Repeat([]byte{byte('a' + i)}, length)
			want[name] = data
			for rest := data; len(rest) > 0; {
				n := min(len(rest), 1+rng.IntN(length))
				must.Have(part.Write(rest[:n]))(t)
				rest = rest[n:]
			}
			must.Do(t, part.Close())
		}
		m := must.Have(w.Commit())(t)
		must.Equal(t, len(f.objects), c.objects, "limit", c.limit, "lengths", c.lengths, "objects")
		// Objects are created in the order of the parts that have one.
		var apart []int
		for i := range m.Parts {
			if !slices.Contains(f.stored.Inline, i) {
				apart = append(apart, i)
			}
		}
		r := newReader(t.Context(), f.stored, func(index int, offset int64) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(f.objects[slices.Index(apart, index)].Bytes()[offset:])), nil
		})
		for _, listed := range m.Parts {
			data := want[listed.Name]
			if listed.CRC32C != sumsOf(data) || listed.Bytes != int64(len(data)) {
				t.Errorf("limit %d, lengths %d: part %+v", c.limit, c.lengths, listed)
			}
			part := must.Have(r.Part(listed.Name))(t)
			must.Do(t, iotest.TestReader(part, data), "limit", c.limit, "part", listed.Name)
		}
	}
}
