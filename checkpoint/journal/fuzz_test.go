// This file fuzzes the reading of a journal.

package journal

import (
	"bytes"
	"errors"
	"testing"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

// FuzzReadRecords reads anything as a journal: no panic, an error is ErrCorrupt, and the valid prefix is
// what its records are written as.
func FuzzReadRecords(f *testing.F) {
	some := []byte(header)
	for i, payload := range []string{`{"next":0}`, `{"next":1,"gone":["a"]}`, ""} {
		some = appendRecord(some, uint64(i), []byte(payload))
	}
	f.Add(some)
	f.Add(some[:len(some)-3])
	f.Add(append(bytes.Clone(some[:40]), some...))
	f.Add([]byte(header + frameMark + frameMark))
	f.Fuzz(func(t *testing.T, data []byte) {
		payloads, end, err := readRecords(data)
		if err != nil && !errors.Is(err, checkpoint.ErrCorrupt) {
			t.Fatal(err)
		}
		if end == 0 {
			return
		}
		again := []byte(header)
		for i, payload := range payloads {
			again = appendRecord(again, uint64(i), payload)
		}
		if !bytes.Equal(again, data[:end]) {
			t.Fatalf("%d records are %d bytes, and were read from %d", len(payloads), len(again), end)
		}
	})
}

// FuzzRecover takes anything as the payloads of a journal. What is taken is written again as it was
// read, and makes a machine whose records are a machine again, with the same effects.
func FuzzRecover(f *testing.F) {
	f.Add([]byte(`{"next":9,"jobs":[{"name":"a","demand":[1],"min":1,"phase":"idle"}]}`))
	f.Add([]byte(`{"next":9,"jobs":[{"name":"a","demand":[1],"min":1,"phase":"stopping","containers":["s1"],"attempt":3,"effect":4}],"servers":[{"id":"s1","capacity":[1]}]}`))
	f.Add([]byte(`{"next":9,"jobs":[{"name":"a","demand":[1],"min":1,"phase":"waiting","target":["s1"]}],"servers":[{"id":"s1","capacity":[0]}]}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		record, err := Decode(payload)
		if err != nil {
			return
		}
		if again, err := Encode(record); err != nil || !bytes.Equal(again, payload) {
			t.Fatalf("read from\n%s\nand written as\n%s, %v", payload, again, err)
		}
		m, err := checkpoint.Recover(oneKind(), 1, record)
		if err != nil {
			must.Err(t, err, checkpoint.ErrCorrupt)
			return
		}
		twice := must.Have(checkpoint.Recover(oneKind(), 1, m.Snapshot()))(t)
		if a, b := m.Ready(), twice.Ready(); len(a.Effects) != len(b.Effects) || !a.Record.Empty() || !b.Record.Empty() {
			t.Fatalf("%v, then %v", a, b)
		}
		_ = m.Step(checkpoint.ServerFenced{ID: "s1"}) // must not panic
		_ = m.Step(checkpoint.Cancel{Job: "a"})
	})
}
