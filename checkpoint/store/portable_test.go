// This file tests what a Portable makes of a medium that fails or is replaced.

package store

import (
	"context"
	"errors"
	"testing"
)

// medium is a Medium of which a test says what it lists, and what it is.
type medium struct {
	Medium
	list     func() ([]int64, func(int64) (Stored, error), error)
	identity func() Identity
}

func (m *medium) List(context.Context, Folder) ([]int64, func(int64) (Stored, error), error) {
	return m.list()
}

func (m *medium) Identity(context.Context, bool) (Identity, error) { return m.identity(), nil }

// TestListFails: where the medium cannot list all that it must know, such as a fence, nothing that it names beside is shown.
func TestListFails(t *testing.T) {
	read := func(int64) (Stored, error) { return record("part"), nil }
	s := NewPortable(&medium{list: func() ([]int64, func(int64) (Stored, error), error) { return []int64{7}, read, errMedium }}, Form{}, "")
	if list, err := s.List(t.Context(), "lr"); len(list) > 0 || !errors.Is(err, errMedium) {
		t.Errorf("%v, %v, want the error of the medium alone", list, err)
	}
}

// TestIdentityLearntMeanwhile replaces the medium between two calls of which the first has not returned.
func TestIdentityLearntMeanwhile(t *testing.T) {
	first, second := NewIdentity(), NewIdentity()
	m := &medium{}
	s := NewPortable(m, Form{}, "")
	m.identity = func() Identity {
		m.identity = func() Identity { return first }
		if id, err := s.Identity(t.Context()); id != first || err != nil {
			t.Errorf("%s, %v", id, err)
		}
		return second
	}
	if id, err := s.Identity(t.Context()); !errors.Is(err, ErrIdentity) {
		t.Errorf("%s, %v, want ErrIdentity", id, err)
	}
}
