// This file tests the walks that all formats stand on: the cursor, the fields of a message, sorted tables,
// pickles and lists of arrays, each on random input that a dumb twin reads too.

package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apportion/apportion/internal/must"
)

func over(data []byte) *cursor { return newCursor(bytes.NewReader(data), int64(len(data))) }

// bytesOf returns n bytes that do not repeat soon.
func bytesOf(n int) []byte {
	data := make([]byte, n)
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range data {
		data[i] = byte(rng.IntN(256))
	}
	return data
}

// A cursor reads what a slice holds, in whatever steps, across windows too.
func TestCursorReadsTheFile(t *testing.T) {
	data := bytesOf(3*windowBytes + 17)
	for seed := range uint64(20) {
		rng, c, at := rand.New(rand.NewPCG(seed, 2)), over(data), 0
		for c.left() > 0 {
			n := 1 + rng.IntN(windowBytes)
			switch rng.IntN(3) {
			case 0:
				got, err := c.peek(n)
				if want := data[at:min(at+n, len(data))]; err != nil || !bytes.Equal(got, want) {
					t.Fatalf("peek of %d at %d: %d bytes, %v", n, at, len(got), err)
				}
			case 1:
				got, err := c.take(n)
				if at+n > len(data) {
					must.Err(t, err, io.ErrUnexpectedEOF, "take of", n, "at", at)
					n = 0
				} else if err != nil || !bytes.Equal(got, data[at:at+n]) {
					t.Fatalf("take of %d at %d: %v", n, at, err)
				}
				at += n
			case 2:
				n = rng.IntN(100)
				if err := c.skip(uint64(n)); (err != nil) != (at+n > len(data)) {
					t.Fatalf("skip of %d at %d: %v", n, at, err)
				} else if err == nil {
					at += n
				}
			}
			must.Equal(t, c.pos, int64(at), "the cursor is at", at)
			if len(data)-at < windowBytes && rng.IntN(20) == 0 {
				break // the end may never be hit exactly
			}
		}
	}
}

// What lies within a part is all that visit sees, and the cursor goes on behind it, whatever visit left.
func TestCursorWithin(t *testing.T) {
	data := bytesOf(100)
	for size := range 60 {
		for used := range size + 2 {
			c := over(data)
			must.Have(c.take(20))(t)
			err := c.within(uint64(size), func() error {
				must.Equal(t, c.left(), int64(size), "bytes are left within", size)
				return c.skip(uint64(used))
			})
			must.Equal(t, err != nil, used > size, "skipping", used, "of", size, err)
			next := must.Have(c.take(1))(t)
			must.Equal(t, next[0], data[20+size], "behind a part of", size, next)
		}
	}
	c := over(data)
	for _, n := range []uint64{101, math.MaxInt64, math.MaxUint64} {
		err := c.within(n, func() error { t.Error("visited"); return nil })
		if !errors.Is(err, io.ErrUnexpectedEOF) || c.pos != 0 || c.left() != 100 {
			t.Errorf("within %d: %v, at %d", n, err, c.pos)
		}
	}
}

// shrinking is a file that has lost its end since its length was asked for.
type shrinking struct{ data []byte }

func (s shrinking) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(s.data).ReadAt(p, at)
}

func TestCursorOfAShrunkFile(t *testing.T) {
	c := newCursor(shrinking{bytesOf(10)}, 20)
	if got, err := c.peek(5); err == nil {
		t.Errorf("a file that is shorter than its length gave %d bytes", len(got))
	}
	must.Fail(c.take(1))(t, io.ErrUnexpectedEOF, "again")
}

// Numbers of every width are read as they were written, and none beyond the end.
func TestCursorNumbers(t *testing.T) {
	for _, v := range []uint64{0, 1, 127, 128, 1<<32 - 1, 1 << 32, math.MaxInt64, math.MaxUint64} {
		data := binary.LittleEndian.AppendUint64(protowire.AppendVarint(nil, v), v)
		data = binary.LittleEndian.AppendUint32(data, uint32(v))
		for cut := range len(data) + 1 {
			c := over(data[:cut])
			first, err1 := c.varint()
			second, err2 := c.uint64()
			third, err3 := c.uint32()
			if all := errors.Join(err1, err2, err3); (all == nil) != (cut == len(data)) {
				t.Errorf("%d cut to %d of %d bytes: %v", v, cut, len(data), all)
			} else if all == nil && (first != v || second != v || third != uint32(v) || c.left() != 0) {
				t.Errorf("%d was read as %d, %d, %d", v, first, second, third)
			}
		}
	}
	must.Fail(over(bytes.Repeat([]byte{0xff}, 11)).varint())(t, must.ErrAny, "a number of eleven bytes was read")
}

// message returns random fields as bytes, and in words.
func message(rng *rand.Rand) (data []byte, words []string) {
	for range rng.IntN(6) {
		number, v := protowire.Number(1+rng.IntN(200)), rng.Uint64()>>rng.IntN(64)
		kind := []protowire.Type{protowire.VarintType, protowire.Fixed32Type, protowire.Fixed64Type, protowire.BytesType}[rng.IntN(4)]
		data = protowire.AppendTag(data, number, kind)
		switch kind {
		case protowire.VarintType:
			data = protowire.AppendVarint(data, v)
		case protowire.Fixed32Type:
			v = uint64(uint32(v))
			data = protowire.AppendFixed32(data, uint32(v))
		case protowire.Fixed64Type:
			data = protowire.AppendFixed64(data, v)
		default:
			v %= 300
			data = protowire.AppendBytes(data, bytesOf(int(v)))
		}
		words = append(words, fmt.Sprintf("%d:%d=%d", number, kind, v))
	}
	return data, words
}

// The walk finds the fields that were written, in their order. Cut anywhere but between two fields, the
// message is refused; there, the fields before are found.
func TestFieldsAgainstWriter(t *testing.T) {
	for seed := range uint64(200) {
		data, want := message(rand.New(rand.NewPCG(seed, 3)))
		whole := 0
		for cut := range len(data) + 1 {
			var got []string
			err := fields(over(data[:cut]), func(f field) error {
				got = append(got, fmt.Sprintf("%d:%d=%d", f.number, f.kind, f.value))
				return nil
			})
			if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
				t.Fatalf("seed %d, cut to %d: %v, want the beginning of %v", seed, cut, got, want)
			}
			if err == nil {
				whole++
			}
		}
		// The empty beginning is a message, and so is every one that ends with a field.
		must.Equal(t, whole, len(want)+1, "seed", seed, "beginnings of", len(want), "fields are taken for messages")
	}
}

// Tags that no writer makes are refused: field 0, groups, and types that do not exist.
func TestFieldsRefused(t *testing.T) {
	for what, data := range map[string][]byte{
		"zeros":       make([]byte, 4),
		"field 0":     protowire.AppendVarint(nil, uint64(protowire.VarintType)),
		"group":       protowire.AppendTag(nil, 1, protowire.StartGroupType),
		"end":         protowire.AppendTag(nil, 1, protowire.EndGroupType),
		"type 6":      protowire.AppendVarint(nil, 1<<3|6),
		"type 7":      protowire.AppendVarint(nil, 1<<3|7),
		"huge length": protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.BytesType), math.MaxUint64),
	} {
		must.Err(t, fields(over(data), func(field) error { return nil }), must.ErrAny, what, "accepted")
	}
	stop := errors.New("stop")
	data := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 7)
	must.Err(t, fields(over(append(data, data...)), func(field) error { return stop }), stop, "the error of visit")
}

// sorted returns random keys, ascending, with values.
func sorted(rng *rand.Rand) (keys, values []string) {
	for range rng.IntN(30) {
		keys = append(keys, strings.Repeat("k", rng.IntN(5))+fmt.Sprint(rng.IntN(1000)))
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for range keys {
		values = append(values, string(bytesOf(rng.IntN(50))))
	}
	return keys, values
}

// encode writes a block: each key as what it adds to the one before, with a restart every third entry.
func encode(keys, values []string) []byte {
	var block []byte
	var restarts []uint32
	before := ""
	for i, key := range keys {
		if i%3 == 0 {
			restarts, before = append(restarts, uint32(len(block))), ""
		}
		shared := 0
		for shared < min(len(key), len(before)) && key[shared] == before[shared] {
			shared++
		}
		for _, n := range []int{shared, len(key) - shared, len(values[i])} {
			block = protowire.AppendVarint(block, uint64(n))
		}
		block, before = append(append(block, key[shared:]...), values[i]...), key
	}
	for _, at := range restarts {
		block = binary.LittleEndian.AppendUint32(block, at)
	}
	return binary.LittleEndian.AppendUint32(block, uint32(len(restarts)))
}

func storeBlock(file *[]byte, block []byte) []byte {
	handle := protowire.AppendVarint(protowire.AppendVarint(nil, uint64(len(*file))), uint64(len(block)))
	*file = append(append(*file, block...), 0)
	sum := crc32.Checksum((*file)[len(*file)-len(block)-1:], castagnoli)
	*file = binary.LittleEndian.AppendUint32(*file, masked(sum))
	return handle
}

// tableOf writes keys and values as a sorted table whose data blocks hold so many entries each.
func tableOf(keys, values []string, each int) []byte {
	var file []byte
	var last, handles []string
	for at := 0; at < len(keys); at += each {
		end := min(at+each, len(keys))
		last = append(last, keys[end-1])
		handles = append(handles, string(storeBlock(&file, encode(keys[at:end], values[at:end]))))
	}
	footer := storeBlock(&file, encode(nil, nil))
	footer = append(footer, storeBlock(&file, encode(last, handles))...)
	footer = append(footer, make([]byte, footerBytes-8-len(footer))...)
	return append(file, binary.LittleEndian.AppendUint64(footer, tableMagic)...)
}

// readTable returns what a table holds.
func readTable(data []byte) (keys, values []string, err error) {
	err = table(over(data), func(key, value []byte) error {
		keys, values = append(keys, string(key)), append(values, string(value))
		return nil
	})
	return keys, values, err
}

// A table is read as it was written, however it was split into blocks. Of one with a bit turned or its end
// cut, nothing wrong is ever read: it is refused, or the bit was in padding.
func TestTableAgainstWriter(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 4))
		keys, values := sorted(rng)
		data := tableOf(keys, values, 1+rng.IntN(8))
		gotKeys, gotValues, err := readTable(data)
		if err != nil || !slices.Equal(gotKeys, keys) || !slices.Equal(gotValues, values) {
			t.Fatalf("seed %d: %q and %q, %v", seed, gotKeys, keys, err)
		}
		for range 100 {
			damaged := bytes.Clone(data)
			damaged[rng.IntN(len(damaged))] ^= 1 << rng.IntN(8)
			if k, v, err := readTable(damaged); err == nil && (!slices.Equal(k, keys) || !slices.Equal(v, values)) {
				t.Fatalf("seed %d: a turned bit made %q of %q", seed, k, keys)
			}
			if _, _, err := readTable(data[:rng.IntN(len(data))]); err == nil {
				t.Fatalf("seed %d: a table that was cut is read", seed)
			}
		}
	}
}

// A block whose lengths lead out of it is refused, also where sums of them would wrap.
func TestEntriesRefused(t *testing.T) {
	entry := func(shared, own, value uint64, rest string) []byte {
		b := protowire.AppendVarint(protowire.AppendVarint(protowire.AppendVarint(nil, shared), own), value)
		return append(append(b, rest...), 0, 0, 0, 0)
	}
	for what, block := range map[string][]byte{
		"nothing":            nil,
		"three bytes":        {0, 0, 0},
		"restarts":           {1, 0, 0, 0},
		"many restarts":      {0xff, 0xff, 0xff, 0xff},
		"shared with none":   entry(1, 0, 0, ""),
		"key too long":       entry(0, 3, 0, "ab"),
		"value too long":     entry(0, 1, 3, "abc"),
		"key wraps":          entry(0, math.MaxUint64, 0, "ab"),
		"value wraps":        entry(0, 1, math.MaxUint64, "ab"),
		"both wrap together": entry(0, math.MaxUint64, 2, "ab"),
		"cut in the lengths": {0x80, 0, 0, 0, 0},
	} {
		must.Err(t, entries(block, func(key, value []byte) error { return nil }), must.ErrAny, what, "accepted")
	}
}

// pickled returns a pickle of all opcodes that have contents of their own, and the places where it may be
// damaged without notice: the contents.
func pickled() (data []byte, free []bool) {
	add := func(isFree bool, b ...byte) {
		for range b {
			free = append(free, isFree)
		}
		data = append(data, b...)
	}
	add(false, pickleStart)
	add(true, 4)
	for _, op := range bare {
		add(false, op)
	}
	for op := range 256 {
		if n := fixed[byte(op)]; n > 0 && op != pickleStart {
			add(false, byte(op))
			add(true, make([]byte, n)...)
		}
		if n := prefixed[byte(op)]; n > 0 {
			add(false, byte(op))
			add(false, append([]byte{3}, make([]byte, n-1)...)...)
			add(true, []byte("xyz")...)
		}
	}
	add(false, 'c')
	add(false, []byte("numpy\narray\n")...)
	add(false, pickleStop)
	return data, free
}

// A pickle of every opcode is whole, and none of its beginnings is, nor itself with more behind.
func TestPickleEveryOpcode(t *testing.T) {
	data, free := pickled()
	must.Do(t, pickle(over(data)))
	for cut := range data {
		if pickle(over(data[:cut])) == nil {
			t.Errorf("cut to %d of %d bytes it is whole", cut, len(data))
		}
	}
	for _, behind := range []string{"\x00", ".", string(data)} {
		if pickle(over(append(bytes.Clone(data), behind...))) == nil {
			t.Errorf("with %d bytes behind it is whole", len(behind))
		}
	}
	for i, isFree := range free {
		damaged := bytes.Clone(data)
		damaged[i] ^= 0xff
		if err := pickle(over(damaged)); isFree && err != nil {
			t.Errorf("contents at %d are looked at: %v", i, err)
		}
	}
}

func TestPickleRefused(t *testing.T) {
	for what, data := range map[string]string{
		"nothing":            "",
		"no protocol":        ".",
		"a stop too much":    "\x80\x02..",
		"two protocols":      "\x80\x02\x80\x02.",
		"protocol 0":         "\x80\x02I1\n.",
		"unknown opcode":     "\x80\x02\xff.",
		"length beyond":      "\x80\x02U\x05ab.",
		"length beyond int":  "\x80\x02\x8d\xff\xff\xff\xff\xff\xff\xff\xff.",
		"global of one line": "\x80\x02cnumpy\n.",
		"long line":          "\x80\x02c" + strings.Repeat("x", 5000) + "\nname\n.",
	} {
		if pickle(over([]byte(data))) == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

// covers agrees with a dumb search for every small pair: the history is k-fold, and one fold of it is a
// subsequence of the weights.
func TestCoversAgainstSearch(t *testing.T) {
	lists := [][]int64{nil}
	for at := 0; len(lists) < 200; at++ {
		for size := range int64(3) {
			lists = append(lists, append(slices.Clone(lists[at]), size))
		}
	}
	var subsequence func(part, of []int64) bool
	subsequence = func(part, of []int64) bool {
		if len(part) == 0 {
			return true
		}
		return len(of) > 0 && (part[0] == of[0] && subsequence(part[1:], of[1:]) || subsequence(part, of[1:]))
	}
	for _, weights := range lists {
		for _, history := range lists {
			want := len(history) == 0 && len(weights) == 0 || len(history) > 0 && subsequence(history, weights)
			if half := len(history) / 2; half > 0 && len(history)%2 == 0 && slices.Equal(history[:half], history[half:]) {
				want = want || subsequence(history[:half], weights)
			}
			must.Equal(t, covers(weights, history), want, "weights", weights, "history", history)
		}
	}
}

// Numbers in names, at the edges of what a name and an int64 can hold.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		name                   string
		last, trailing, caffes int64
	}{
		{"", -1, -1, -1},
		{"model", -1, -1, -1},
		{"7", 7, -1, -1},
		{"-7", 7, 7, -1},
		{"model-7", 7, 7, -1},
		{"model-007", 7, 7, -1},
		{"model-7-", 7, -1, -1},
		{"model-+7", 7, -1, -1},
		{"v2-epoch-10-best", 10, -1, -1},
		{"a-9223372036854775807", math.MaxInt64, math.MaxInt64, -1},
		{"a-9223372036854775808", -1, -1, -1},
		{"net_iter_1000", 1000, -1, 1000},
		{"a_iter_1_iter_2", 2, -1, 2},
		{"_iter_0", 0, -1, 0},
		{"net_iter_2147483647", 2147483647, -1, 2147483647},
		{"net_iter_2147483648", 2147483648, -1, -1},
		{"net_iter_-1", 1, 1, -1},
		{"net_iter_", -1, -1, -1},
	} {
		must.Equal(t, number(c.name), c.last, "last number of", c.name)
		must.Equal(t, trailingNumber(c.name), c.trailing, "number behind the last dash of", c.name)
		must.Equal(t, iteration(c.name), c.caffes, "iteration of", c.name)
	}
}

// Steps are a product that never overflows, and -1 where a factor is not known.
func TestSteps(t *testing.T) {
	for _, c := range []struct{ number, per, want int64 }{
		{0, 1, 0}, {7, 100, 700}, {-1, 1, -1}, {7, 0, -1}, {7, -3, -1},
		{1 << 62, 1, 1 << 62}, {1<<62 + 1, 1, -1}, {1 << 31, 1 << 31, 1 << 62}, {1<<31 + 1, 1 << 31, -1},
		{math.MaxInt64, math.MaxInt64, -1}, {1, math.MaxInt64, -1}, {0, math.MaxInt64, 0},
	} {
		must.Equal(t, steps(c.number, c.per), c.want, c.number, "times", c.per)
	}
}

// Only the name of a file in the directory itself may be asked for.
func TestPlain(t *testing.T) {
	for name, want := range map[string]bool{
		"model.pt": true, ".hidden": true, "a b": true, "": false, ".": false, "..": false, "a/b": false, "/a": false, "../a": false, "a/": false,
	} {
		if err := plain(name); (err == nil) != want || err != nil && !errors.Is(err, ErrIncomplete) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func dimension(size uint64) field { return field{number: 1, kind: protowire.VarintType, value: size} }

// Products of dimensions are exact or refused, and never wrap.
func TestTimes(t *testing.T) {
	sizes := []uint64{0, 1, 2, 3, 1 << 31, 1 << 32, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64}
	for _, a := range sizes[:7] {
		for _, b := range sizes {
			got, err := times(int64(a), dimension(b))
			exact := b <= math.MaxInt64 && (b == 0 || a <= math.MaxInt64/b)
			if (err == nil) != exact || exact && uint64(got) != a*b {
				t.Errorf("%d times %d: %d, %v", a, b, got, err)
			}
		}
	}
	must.Fail(times(1, field{kind: protowire.BytesType, value: 1}))(t, must.ErrAny, "a dimension that is no number was taken")
}

// The widths of what follows an opcode, from the protocol and not from our tables: a wrong one would lead the
// walk into the contents.
func TestPickleWidths(t *testing.T) {
	for opcode, contents := range map[string]string{
		"BININT1 K": "1", "BININT2 M": "12", "BININT J": "1234", "BINFLOAT G": "12345678",
		"BINGET h": "1", "LONG_BINGET j": "1234", "BINPUT q": "1", "LONG_BINPUT r": "1234",
		"EXT1 \x82": "1", "EXT2 \x83": "12", "EXT4 \x84": "1234", "FRAME \x95": "12345678",
		"SHORT_BINSTRING U": "\x03abc", "SHORT_BINBYTES C": "\x03abc", "LONG1 \x8a": "\x03abc", "SHORT_BINUNICODE \x8c": "\x03abc",
		"BINSTRING T": "\x03\x00\x00\x00abc", "BINUNICODE X": "\x03\x00\x00\x00abc", "BINBYTES B": "\x03\x00\x00\x00abc", "LONG4 \x8b": "\x03\x00\x00\x00abc",
		"BINUNICODE8 \x8d": "\x03\x00\x00\x00\x00\x00\x00\x00abc", "BINBYTES8 \x8e": "\x03\x00\x00\x00\x00\x00\x00\x00abc", "BYTEARRAY8 \x96": "\x03\x00\x00\x00\x00\x00\x00\x00abc",
		"NONE N": "", "TUPLE t": "", "MEMOIZE \x94": "", "STACK_GLOBAL \x93": "", "GLOBAL c": "numpy\narray\n",
	} {
		name, op, _ := strings.Cut(opcode, " ")
		// The stop is the last byte; the contents must not hold it, or a shorter width would find it.
		must.Do(t, pickle(over([]byte("\x80\x04"+op+contents+"."))), name)
		// With a byte more the walk takes that for an opcode, which 0xff is not.
		must.Err(t, pickle(over([]byte("\x80\x04"+op+contents+"\xff."))), errMalformed, name, "with a byte more")
	}
}
