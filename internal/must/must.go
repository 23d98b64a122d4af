// This file implements functions that end a test.

// Package must ends a test at an error or a value that the test does not expect.
package must

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// TB is what these functions need of a test: testing.TB and *rapid.T have it.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// Do ends the test if err is not nil; about says what it is of.
func Do(t TB, err error, about ...any) {
	if err != nil {
		t.Helper()
		t.Fatal(append(words(about), err)...)
	}
}

// Have takes what a call returns: must.Have(call())(t) is its value, or the test ends with the call's error.
func Have[T any](value T, err error) func(t TB, about ...any) T {
	return func(t TB, about ...any) T {
		t.Helper()
		Do(t, err, about...)
		return value
	}
}

// Equal ends the test if got differs from want; about says what they are of.
func Equal[T comparable](t TB, got, want T, about ...any) {
	if got != want {
		t.Helper()
		t.Fatal(label(about) + fmt.Sprintf("%+v, want %+v", got, want))
	}
}

// Same ends the test if got and want differ in length or in an element.
func Same[S ~[]E, E comparable](t TB, got, want S, about ...any) {
	if !slices.Equal(got, want) {
		t.Helper()
		t.Fatal(label(about) + fmt.Sprintf("%+v, want %+v", got, want))
	}
}

// ErrAny stands for every error.
var ErrAny = errors.New("an error")

// Err ends the test if err does not wrap want; nil wraps nil alone.
func Err(t TB, err, want error, about ...any) {
	if !errors.Is(err, want) && (want != ErrAny || err == nil) {
		t.Helper()
		t.Fatal(label(about) + fmt.Sprintf("error %v, want %v", err, want))
	}
}

// Fail takes what a call returns: must.Fail(call())(t, want) ends the test if the error does not wrap want.
func Fail[T any](_ T, err error) func(t TB, want error, about ...any) {
	return func(t TB, want error, about ...any) {
		t.Helper()
		Err(t, err, want, about...)
	}
}

// label is what stands before a message.
func label(about []any) string {
	if len(about) == 0 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintln(words(about)...), "\n") + ": "
}

// words returns a list with strings for bytes.
func words(about []any) []any {
	list := slices.Clone(about)
	for i, word := range list {
		if text, ok := word.([]byte); ok {
			list[i] = string(text)
		}
	}
	return list
}
