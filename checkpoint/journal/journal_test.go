// This file tests the journal: what is read back, what is damage, and two masters at once.

package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

func server(id string) checkpoint.Event {
	return checkpoint.ServerUp{Server: apportion.Server{ID: id, Capacity: apportion.Resources{1}}}
}

// oneKind is the Config of all machines here.
func oneKind() checkpoint.Config { return checkpoint.Config{Kinds: apportion.Kinds{"slot"}} }

func knows(m *checkpoint.Machine, id string) bool {
	return slices.ContainsFunc(m.Servers(), func(s apportion.Server) bool { return s.ID == id })
}

func appendEvent(m *checkpoint.Machine, j *Journal, e checkpoint.Event) error {
	if err := m.Step(e); err != nil {
		return err
	}
	return j.Append(m.Ready().Record)
}

func mustOpen(t *testing.T, fsys vfs.FS) (*checkpoint.Machine, *Journal) {
	t.Helper()
	m, j, err := Open(fsys, oneKind())
	must.Do(t, err)
	return m, j
}

// TestTakeOver lets a second master open the journal within every operation of what the first does,
// and the first do all of that within every operation of the opening. What was appended without an
// error must be known to every later master, and only one may go on.
func TestTakeOver(t *testing.T) {
	cases := 0
	for name, first := range map[string]func(fs vfs.FS, m *checkpoint.Machine, j *Journal) error{
		"append":  func(_ vfs.FS, m *checkpoint.Machine, j *Journal) error { return appendEvent(m, j, server("new")) },
		"compact": func(_ vfs.FS, m *checkpoint.Machine, j *Journal) error { return j.Compact(m.Snapshot()) },
		"both": func(_ vfs.FS, m *checkpoint.Machine, j *Journal) error {
			return errors.Join(j.Compact(m.Snapshot()), appendEvent(m, j, server("new")))
		},
		"open": func(fsys vfs.FS, _ *checkpoint.Machine, _ *Journal) error {
			m, j, err := Open(fsys, oneKind())
			if err != nil {
				return err
			}
			return appendEvent(m, j, server("new"))
		},
	} {
		for _, nestedIn := range []string{"the work", "the opening"} {
			for k := 1; ; k++ {
				d := &duel{t: t, mem: vfstest.NewMem(), name: fmt.Sprintf("%s, operation %d of %s", name, k, nestedIn)}
				if !d.fight(k, nestedIn == "the work", first) {
					break
				}
				d.check(name != "compact")
				cases++
			}
		}
	}
	t.Logf("%d cases", cases)
	if cases < 60 {
		t.Error("too few")
	}
}

// duel is two masters on one disk.
type duel struct {
	t    *testing.T
	mem  *vfstest.Mem
	name string
	// worked and opened are how the two have fared; successor is the machine of the second.
	worked, opened error
	successor      *checkpoint.Machine
	journal        *Journal
}

// fight nests one of the two in the k-th operation of the other; false: there is no such.
func (d *duel) fight(k int, inWork bool, first func(vfs.FS, *checkpoint.Machine, *Journal) error) bool {
	left := 0
	var nested func()
	fsys := vfstest.Hooked(d.mem, func(vfstest.Op, string) error {
		if left--; left == 0 {
			nested()
		}
		return nil
	})
	m, j := mustOpen(d.t, fsys)
	must.Do(d.t, appendEvent(m, j, server("old")))
	work := func(on vfs.FS) { d.worked = first(on, m, j) }
	open := func(on vfs.FS) { d.successor, d.journal, d.opened = Open(on, oneKind()) }
	if inWork {
		nested = func() { open(d.mem) }
		left = k
		work(fsys)
	} else {
		nested = func() { work(d.mem) }
		left = k
		open(fsys)
	}
	return left <= 0
}

// check opens the journal once more. appended says that the work of the first was to append. The
// second need not know of that if it is replaced itself and hears so.
func (d *duel) check(appended bool) {
	machines := map[string]*checkpoint.Machine{}
	if d.opened == nil && appendEvent(d.successor, d.journal, server("later")) == nil {
		machines["successor"] = d.successor
	}
	last, _ := mustOpen(d.t, d.mem)
	machines["last"] = last
	for who, m := range machines {
		if !knows(m, "old") || appended && d.worked == nil && !knows(m, "new") {
			d.t.Errorf("%s: the %s does not know what was appended: %v", d.name, who, m.Servers())
		}
	}
	for _, err := range []error{d.worked, d.opened} {
		if err != nil && !errors.Is(err, checkpoint.ErrFenced) {
			d.t.Errorf("%s: %v", d.name, err)
		}
	}
	if d.worked != nil && d.opened != nil {
		d.t.Errorf("%s: neither goes on: %v, %v", d.name, d.worked, d.opened)
	}
}

// TestAppendAfterError: once a record may be missing, no later one is taken.
func TestAppendAfterError(t *testing.T) {
	fail := false
	m, j := mustOpen(t, vfstest.Hooked(vfstest.NewMem(), func(op vfstest.Op, _ string) error {
		if fail && op == vfstest.Sync {
			fail = false
			return vfstest.ErrInjected
		}
		return nil
	}))
	fail = true
	must.Err(t, appendEvent(m, j, server("a")), vfstest.ErrInjected, "append")
	must.Err(t, appendEvent(m, j, server("b")), vfstest.ErrInjected, "append after an error")
	must.Err(t, j.Compact(m.Snapshot()), vfstest.ErrInjected, "compact after an error")
}

// TestJournalOnDisk uses a real directory, with other files in it.
func TestJournalOnDisk(t *testing.T) {
	dir := t.TempDir()
	for _, other := range []string{"README", "1.journal", "00000000000000000000.journal", "00000000000000000009.txt", "99999999999999999999.journal"} {
		must.Do(t, os.WriteFile(dir+"/"+other, nil, 0o600))
	}
	fsys := must.Have(vfs.NewOS(dir))(t)
	defer fsys.Close()
	for i := range 3 {
		m, j := mustOpen(t, fsys)
		must.Equal(t, len(m.Servers()), i, "servers")
		must.Do(t, appendEvent(m, j, server(fmt.Sprint(i))))
		must.Do(t, j.Close())
	}
	entries := must.Have(fsys.List("."))(t)
	must.Equal(t, len(entries), 7, entries)
}

// TestDamage cuts a journal everywhere, puts zeros in the place of its end, and flips every bit of it. A cut and zeros are a
// torn tail; a flip is an error, wherever it is.
func TestDamage(t *testing.T) {
	data, ends := someJournal(t)
	for at := len(header); at < len(data); at++ {
		whole := 0
		for _, e := range ends {
			if e <= at && e > len(header) {
				whole++
			}
		}
		for what, tail := range map[string][]byte{"cut": data[:at], "zeros": append(bytes.Clone(data[:at]), make([]byte, len(data)-at)...)} {
			payloads, end, err := readRecords(tail)
			// A cut, or zeros, in the middle leave no whole record behind it.
			if err != nil || len(payloads) != whole || end > at {
				t.Fatalf("%s at %d: %d records, want %d, %v", what, at, len(payloads), whole, err)
			}
		}
	}
	for at := range data {
		for bit := range 8 {
			flipped := bytes.Clone(data)
			flipped[at] ^= 1 << bit
			if _, end, err := readRecords(flipped); !errors.Is(err, checkpoint.ErrCorrupt) || end > at {
				t.Fatalf("flipped at %d: %v, valid until %d", at, err, end)
			}
		}
	}
}

// Where a whole sector of the last record is zero, its disk has not written it; where anything else is wrong, it was
// damaged.
func TestTornInside(t *testing.T) {
	data, _ := someJournal(t)
	at := len(data)
	data = appendRecord(data, 4, bytes.Repeat([]byte("x"), 3*sector))
	hole := func(from, to int) error {
		holed := bytes.Clone(data)
		clear(holed[from:to])
		_, end, err := readRecords(holed)
		if err == nil && end != at {
			t.Errorf("zeros from %d to %d: valid until %d, want %d", from, to, end, at)
		}
		return err
	}
	second := (at/sector + 2) * sector
	must.Do(t, errors.Join(hole(second, second+sector), hole(at, at/sector*sector+sector)), "a sector that was not written")
	must.Err(t, hole(second, second+sector-1), checkpoint.ErrCorrupt, "zeros that are no sector")
}

// A record of many frames is whole or not there, and a frame that survives behind one of the same record that does not is
// no damage.
func TestManyFrames(t *testing.T) {
	data, _ := someJournal(t)
	at := len(data)
	payload := bytes.Repeat([]byte("0123456789"), maxPiece/4)
	data = appendRecord(data, 4, payload)
	data = appendRecord(data, 5, []byte("last"))
	payloads, end, err := readRecords(data)
	if err != nil || end != len(data) || len(payloads) != 6 || !bytes.Equal(payloads[4], payload) || string(payloads[5]) != "last" {
		t.Fatalf("%d records to %d, %v", len(payloads), end, err)
	}
	data = data[:len(data)-frameHead-len("last")]
	for _, cut := range []int{at + 1, at + frameHead + maxPiece, at + frameHead + maxPiece + 5, len(data) - 1} {
		if payloads, end, err := readRecords(data[:cut]); err != nil || end != at || len(payloads) != 4 {
			t.Errorf("cut at %d: %d records to %d, %v", cut, len(payloads), end, err)
		}
	}
	// The disk has written the second frame before the first.
	clear(data[at : at+frameHead+maxPiece])
	if payloads, end, err := readRecords(data); err != nil || end != at || len(payloads) != 4 {
		t.Errorf("%d records to %d, %v", len(payloads), end, err)
	}
	// The second piece of a record without its first is none.
	second := frame{sequence: 4, index: 1, piece: []byte("x")}
	if payloads, end, _ := readRecords(second.append(bytes.Clone(data[:at]))); len(payloads) != 4 || end != at {
		t.Errorf("a second piece alone: %d records to %d", len(payloads), end)
	}
	// A frame of the next record is proof of damage.
	if _, _, err := readRecords(appendRecord(data, 5, []byte("last"))); !errors.Is(err, checkpoint.ErrCorrupt) {
		t.Errorf("damaged in the middle: %v", err)
	}
}

func someJournal(t *testing.T) (data []byte, ends []int) {
	t.Helper()
	mem := vfstest.NewMem()
	m, j := mustOpen(t, mem)
	ends = []int{len(header), int(j.Bytes())}
	for _, e := range []checkpoint.Event{server("s1"), checkpoint.Submit{Job: "a", Demand: apportion.Resources{1}, Min: 0}, checkpoint.Adjust{Targets: map[string][]string{"a": {"s1"}}}} {
		must.Do(t, appendEvent(m, j, e))
		ends = append(ends, int(j.Bytes()))
	}
	data = must.Have(read(mem, name(1, valid)))(t)
	must.Equal(t, len(data), ends[len(ends)-1], "bytes")
	return data, ends
}

func put(t *testing.T, data []byte) vfs.FS {
	t.Helper()
	mem := vfstest.NewMem()
	file := must.Have(mem.Create(name(7, valid)))(t)
	must.Have(file.Write(data))(t)
	return mem
}

// TestFormat reads the example in FORMAT.md.
func TestFormat(t *testing.T) {
	text := must.Have(os.ReadFile("FORMAT.md"))(t)
	_, example, _ := strings.Cut(string(text), "## Example\n\n    ")
	example, _, _ = strings.Cut(example, "\n")
	record, err := Decode([]byte(example))
	if err != nil || len(record.Jobs) != 1 || record.Jobs[0].Phase != checkpoint.Creating {
		t.Errorf("decode = %+v, %v", record, err)
	}
	m := must.Have(checkpoint.New(checkpoint.Config{Kinds: apportion.Kinds{"cpu", "memory"}}, 1))(t)
	for _, e := range []checkpoint.Event{
		checkpoint.ServerUp{Server: apportion.Server{ID: "s1", Capacity: apportion.Resources{2, 8}}}, checkpoint.Submit{Job: "lr", Demand: apportion.Resources{2, 8}, Min: 0},
		checkpoint.Submit{Job: "gd", Demand: apportion.Resources{2, 8}, Min: 0}, checkpoint.Adjust{Targets: map[string][]string{"gd": nil}}, // takes the number 1
	} {
		must.Do(t, m.Step(e))
	}
	m.Ready()
	must.Do(t, m.Step(checkpoint.Adjust{Targets: map[string][]string{"lr": {"s1"}}}))
	written := m.Ready().Record
	payload := must.Have(Encode(written))(t)
	must.Equal(t, string(payload), example, "a machine writes", payload, "and the example")
}

// TestRecordTooLong: a record that no reader would take is not written.
func TestRecordTooLong(t *testing.T) {
	defer func(before int) { maxPayload = before }(maxPayload)
	maxPayload = 1 << 10
	_, j := mustOpen(t, vfstest.NewMem())
	long := checkpoint.Record{Gone: []string{strings.Repeat("x", maxPayload)}}
	if err := j.Append(long); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("Append = %v", err)
	}
}

// A record that belongs elsewhere, and one that is none, are damage, though every sum is right.
func TestRecordsThatCannotBe(t *testing.T) {
	data, _ := someJournal(t)
	payloads, _, err := readRecords(data)
	must.Do(t, err)
	next := uint64(len(payloads))
	for what, sequence := range map[string]uint64{"a record of before": next - 1, "a record that comes later": next + 5} {
		_, _, err := readRecords(appendRecord(bytes.Clone(data), sequence, payloads[0]))
		must.Err(t, err, checkpoint.ErrCorrupt, what)
	}
	disk := vfstest.NewMem()
	file := must.Have(disk.Create("1"))(t)
	must.Have(file.Write(appendRecord(bytes.Clone(data), next, []byte("{"))))(t)
	must.Fail(readJournal(disk, "1"))(t, checkpoint.ErrCorrupt, "what is no record")
}
