// This file tests Kinds: its checks and its text form.

package apportion_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

var kinds = apportion.Kinds{"cpu", "gpu", "memory"}

func TestKindsValidate(t *testing.T) {
	for _, test := range []struct {
		name  string
		kinds apportion.Kinds
		want  []string
	}{
		{"right", kinds, nil},
		{"any language", apportion.Kinds{"Speicher", "内存", "nvidia.com/gpu"}, nil},
		{"one the start of another", apportion.Kinds{"cpu", "cpu2", "cp"}, nil},
		{"none", nil, []string{"Kinds is empty"}},
		{"empty name", apportion.Kinds{"cpu", ""}, []string{"Kinds[1] is empty"}},
		{
			"names that break the text", apportion.Kinds{"a b", "a=b", "a\n", "a\u00a0b", "a\x7f"},
			[]string{
				`Kinds[0] is out of range: "a b" has a space, a control character or =`,
				`Kinds[1] is out of range: "a=b" has a space, a control character or =`,
				`Kinds[2] is out of range: "a\n" has a space, a control character or =`,
				`Kinds[3] is out of range: "a\u00a0b" has a space, a control character or =`,
				`Kinds[4] is out of range: "a\x7f" has a space, a control character or =`,
			},
		},
		{
			"every repetition", apportion.Kinds{"a", "b", "a", "a"},
			[]string{`Kinds[2] is there twice: "a"`, `Kinds[3] is there twice: "a"`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			must.Equal(t, cmp.Diff(test.want, messages(test.kinds.Validate())), "", "faults")
		})
	}
}

func TestKindsIndexAndName(t *testing.T) {
	for k, name := range kinds {
		must.Equal(t, kinds.Index(name), k, "Index(", name)
		must.Equal(t, kinds.Name(k), name, "Name(", k)
	}
	must.Equal(t, kinds.Index("disk"), -1, "Index(disk)")
	for k, want := range map[int]string{-1: "kind -1", 3: "kind 3"} {
		must.Equal(t, kinds.Name(k), want, "Name(", k)
	}
}

func TestFormat(t *testing.T) {
	for _, test := range []struct {
		r    apportion.Resources
		want string
	}{
		{apportion.Resources{2, 0, 8}, "cpu=2 gpu=0 memory=8"},
		{apportion.Resources{-1, 0, maxInt}, "cpu=-1 gpu=0 memory=9223372036854775807"},
		{apportion.Resources{1, 2, 3, 4}, "cpu=1 gpu=2 memory=3 kind 3=4"},
		{nil, ""},
	} {
		must.Equal(t, kinds.Format(test.r), test.want, "Format(", test.r)
	}
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       apportion.Resources
		err        error
		field      string
	}{
		{"all", "cpu=2 gpu=1 memory=8", apportion.Resources{2, 1, 8}, nil, ""},
		{"other order, other spaces", "\tmemory=8\n cpu=2 ", apportion.Resources{2, 0, 8}, nil, ""},
		{"nothing", "", apportion.Resources{0, 0, 0}, nil, ""},
		{"greatest", "cpu=9223372036854775807", apportion.Resources{maxInt, 0, 0}, nil, ""},
		{"one too many", "cpu=9223372036854775808", nil, apportion.ErrRange, "cpu"},
		{"negative", "gpu=-1", nil, apportion.ErrRange, "gpu"},
		{"fraction", "gpu=1.5", nil, apportion.ErrRange, "gpu"},
		{"exponent", "gpu=1e3", nil, apportion.ErrRange, "gpu"},
		{"grouped", "gpu=1_000", nil, apportion.ErrRange, "gpu"},
		{"no quantity", "gpu=", nil, apportion.ErrRange, "gpu"},
		{"no sign", "gpu", nil, apportion.ErrRange, "gpu"},
		{"two signs", "gpu==1", nil, apportion.ErrRange, "gpu"},
		{"unknown", "cpu=1 disk=3", nil, apportion.ErrUnknown, "disk"},
		{"start of a name", "cp=1", nil, apportion.ErrUnknown, "cp"},
		{"no name", "=1", nil, apportion.ErrUnknown, ""},
		{"repeated", "cpu=0 cpu=0", nil, apportion.ErrDuplicate, "cpu"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := kinds.Parse(test.text)
			if diff := cmp.Diff(test.want, got); diff != "" || !errors.Is(err, test.err) {
				t.Errorf("Parse(%q): error %v, want %v (-want +got):\n%s", test.text, err, test.err, diff)
			}
			var fault *apportion.FieldError
			if errors.As(err, &fault) && fault.Field != test.field {
				t.Errorf("the error names field %q, want %q", fault.Field, test.field)
			}
		})
	}
}

// messages returns the texts of the Faults in err.
func messages(err error) []string {
	var faults apportion.Faults
	if !errors.As(err, &faults) {
		return nil
	}
	var list []string
	for _, fault := range faults {
		list = append(list, fault.Error())
	}
	return list
}
