// This file tests which shares there are.

package store_test

import (
	"errors"
	"math"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/store"
)

// A share is one of so many, counted from 0; what is none names its job and says why.
func TestShareCheck(t *testing.T) {
	for share, want := range map[store.Share]string{
		{Index: 0, Of: 1}:                         "",
		{Index: 2, Of: 3}:                         "",
		{Index: math.MaxInt - 1, Of: math.MaxInt}: "",
		{}:                   "0 of 0",
		{Index: 1, Of: 1}:    "1 of 1",
		{Index: 3, Of: 2}:    "3 of 2",
		{Index: -1, Of: 2}:   "-1 of 2",
		{Index: -2, Of: -1}:  "-2 of -1",
		{Index: 0, Of: -1}:   "0 of -1",
		{Index: math.MaxInt}: "9223372036854775807 of 0",
	} {
		err := share.Check("bert/large")
		var fault *apportion.FieldError
		switch {
		case want == "":
			if err != nil {
				t.Errorf("%+v: %v", share, err)
			}
		case !errors.As(err, &fault) || !errors.Is(err, apportion.ErrRange) || fault.Detail != want || fault.Field != "Share" ||
			fault.Item != apportion.Item{Kind: "job", ID: "bert/large"}:
			t.Errorf("%+v: %v, want %q", share, err, want)
		}
	}
}
