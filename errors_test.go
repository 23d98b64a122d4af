// This file tests FieldError and Faults: their texts, and what errors.Is and errors.As find in them.

package apportion_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

func TestFieldErrorText(t *testing.T) {
	for _, test := range []struct {
		fault apportion.FieldError
		want  string
	}{
		{apportion.FieldError{Item: apportion.Item{Kind: "server", ID: "a"}, Field: "Capacity[gpu]", Detail: "-3", Err: apportion.ErrNegative}, `server "a": Capacity[gpu] is negative: -3`},
		{apportion.FieldError{Field: "Servers", Err: apportion.ErrEmpty}, "Servers is empty"},
		{apportion.FieldError{Item: apportion.Item{Kind: "claim", Index: 3}, Err: apportion.ErrDuplicate}, "claim 3: is there twice"},
		{apportion.FieldError{Err: apportion.ErrUnknown, Detail: "x"}, "is unknown: x"},
	} {
		must.Equal(t, test.fault.Error(), test.want, "Error()")
	}
}

func TestFaults(t *testing.T) {
	var faults apportion.Faults
	must.Do(t, faults.Err(), "no fault, but Err()")
	faults.Add(apportion.Item{Kind: "claim", ID: "a"}, "Weight", apportion.ErrNotFinite, "NaN")
	faults.Add(apportion.Item{Kind: "claim", ID: "b", Index: 1}, "Min", apportion.ErrConflict, "5 is above Max 3")
	err := fmt.Errorf("drf: %w", faults.Err())

	const text = "drf: claim \"a\": Weight is not a finite number: NaN\nclaim \"b\": Min contradicts another field: 5 is above Max 3"
	must.Equal(t, err.Error(), text, "Error()", err)
	for sort, want := range map[error]bool{
		apportion.ErrNotFinite: true, apportion.ErrConflict: true, apportion.ErrRange: false,
	} {
		must.Equal(t, errors.Is(err, sort), want, "errors.Is(err", sort)
	}
	var first *apportion.FieldError
	if !errors.As(err, &first) || first != faults[0] {
		t.Errorf("errors.As found %v, want the first fault", first)
	}
	var all apportion.Faults
	if !errors.As(err, &all) || len(all) != 2 {
		t.Errorf("errors.As found %d faults, want 2", len(all))
	}
}

func TestItem(t *testing.T) {
	for _, test := range []struct {
		item apportion.Item
		want string
	}{
		{apportion.Item{}, ""},
		{apportion.Item{Kind: "server", Index: 7}, "server 7"},
		{apportion.Item{Kind: "server", ID: "a", Index: 7}, `server "a"`},
		{apportion.Item{Kind: "server", ID: "a\"b\n"}, `server "a\"b\n"`},
		{apportion.Item{ID: "options"}, "options"},
	} {
		if got := test.item.String(); got != test.want || test.item.IsZero() != (test.want == "") {
			t.Errorf("%#v: %s, zero %v, want %s", test.item, got, test.item.IsZero(), test.want)
		}
	}
}
