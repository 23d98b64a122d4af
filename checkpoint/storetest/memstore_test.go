// This file holds MemStore to the contract and tests what only it can do.

package storetest_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// mem is a MemStore as Run wants it.
type mem struct{ *storetest.MemStore }

func (mem) InMemory() {}

func (m mem) Restart(testing.TB) store.Store {
	m.Crash()
	return m
}

func (mem) Leftovers(testing.TB) int { return 0 }

func TestMemStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return mem{new(storetest.MemStore)} })
}

func TestCrash(t *testing.T) {
	s := new(storetest.MemStore)
	save(t, s, 1, "content")
	r := must.Have(s.Open(t.Context(), "job", 1))(t)
	reading := must.Have(r.Part("part"))(t)
	w := must.Have(s.Begin(t.Context(), "job", 2))(t)
	writing := must.Have(w.Part("part"))(t)
	complete := must.Have(s.Begin(t.Context(), "job", 3))(t)
	s.Crash()
	_, commit := complete.Commit()
	_, part := complete.Part("another")
	_, write := io.WriteString(writing, "x")
	_, read := io.ReadAll(reading)
	_, open := r.Part("part")
	for what, err := range map[string]error{"Commit": commit, "Part": part, "Write": write, "Close": writing.Close(), "Read": read, "Reader.Part": open} {
		if err == nil || !strings.Contains(err.Error(), "crashed") {
			t.Errorf("%s after a crash: %v", what, err)
		}
	}
	if list, err := s.List(t.Context(), "job"); err != nil || len(list) != 1 || list[0].Number != 1 {
		t.Errorf("after a crash: %v, %v; want number 1 alone", list, err)
	}
	save(t, s, 2, "next process")
}

func save(t *testing.T, s store.Store, number int64, data string) {
	t.Helper()
	must.Do(t, trySave(t, s, number, data))
}

func trySave(t *testing.T, s store.Store, number int64, data string) error {
	w, err := storetest.Write(t.Context(), s, "job", number, data)
	if err == nil {
		_, err = w.Commit()
	}
	if err != nil && w != nil {
		return errors.Join(err, w.Abort())
	}
	return err
}

func TestDamageApply(t *testing.T) {
	const data = "content"
	for how, want := range map[storetest.Damage]string{
		storetest.Flip: "con|ent", storetest.Truncate: "conten", storetest.Extend: "content\x00",
	} {
		original := []byte(data)
		if got := string(how.Apply(original)); got != want || string(original) != data {
			t.Errorf("%v of %q is %q, and changed it to %q; want %q", how, data, got, original, want)
		}
	}
}
