// This file implements Place: names for what a writer has not committed yet, which tell how old it is.

package store

import (
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Place names the objects of one writer: the second in which it began and a random word, so that no two
// writers ever have the same one, not even when their clocks stand still. The form is
// "<seconds since 1970>-<26 letters and digits>".
// It is a string, so that it can be part of a name and of JSON as it is.
type Place string

// wordBytes is the length of [rand.Text], 130 random bits.
const wordBytes = 26

var errPlace = errors.New("is not the name of a place")

// NewPlace returns the place of a writer that begins now.
func NewPlace(now time.Time) Place {
	// The clock is the caller's, and seconds are enough: the word alone makes places differ.
	return Place(strconv.FormatInt(now.Unix(), 10) + "-" + rand.Text())
}

// stamp returns when the writer began. Only what NewPlace returns is a place.
func (p Place) stamp() (time.Time, error) {
	// Before the "-" of a negative time there is nothing, which is no number.
	text, word, _ := strings.Cut(string(p), "-")
	// ParseInt takes a plus and leading zeros, which NewPlace never writes; the text is formatted again to
	// refuse them.
	seconds, err := strconv.ParseInt(text, 10, 64)
	base32 := func(r rune) bool { return 'A' <= r && r <= 'Z' || '2' <= r && r <= '7' }
	if err != nil || seconds < 0 || strconv.FormatInt(seconds, 10) != text ||
		len(word) != wordBytes || strings.TrimFunc(word, base32) != "" {
		return time.Time{}, errPlace
	}
	return time.Unix(seconds, 0), nil
}

// Valid reports whether NewPlace can have returned p.
func (p Place) Valid() bool {
	_, err := p.stamp()
	return err == nil
}

// Abandoned reports whether p is a place and was begun more than age before now. One that was begun
// more than age after now is abandoned too: the clock was wrong then or is wrong now, and otherwise it
// would stay for ever.
func (p Place) Abandoned(now time.Time, age time.Duration) bool {
	// What is no place was not made here, and is never abandoned: somebody else's files stay.
	began, err := p.stamp()
	return err == nil && now.Sub(began).Abs() > age
}
