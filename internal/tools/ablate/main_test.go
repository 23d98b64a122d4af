// This file tests the numbers that are found, and the figures of a small module.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// house is a package with numbers of every sort, and a test that shows what it makes of them.
var house = map[string]string{
	"go.mod": "module house\n\ngo 1.25\n",
	"house.go": `package house

const one = 1

const (
	// Two numbers of one line, one that follows from them, a text and a hexadecimal.
	left, right = 4, 0.25
	sum         = left + right
	name        = "house"
	mask        = 0x10
	nothing     = 0
	idle        = 3
)

var variable = 7

// Figure is the figure.
func Figure() float64 { return one * sum * mask }
`,
	"house_test.go": "package house\n\nimport \"testing\"\n\nconst secret = 5\n\nfunc TestFigure(t *testing.T) {\n\tt.Logf(\"the figure is %g\", Figure())\n\tif Figure() < 40 {\n\t\tt.Error(\"too small\")\n\t}\n}\n",
}

// write puts files into a folder of their own.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestNumbers(t *testing.T) {
	numbers, err := numbersOf(write(t, house))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"one": {"2"}, "left": {"2", "8"}, "right": {"0.125", "0.5"}, "mask": {"8", "32"}, "nothing": nil, "idle": {"1", "6"}}
	if len(numbers) != len(want) {
		t.Errorf("%d numbers, want %d", len(numbers), len(want))
	}
	for _, n := range numbers {
		if others, known := want[n.name]; !known || !slices.Equal(n.others(), others) {
			t.Errorf("%s: %v, want %v", n.name, n.others(), others)
		}
	}
}

// A number is changed where it stands, and nothing else is.
func TestWith(t *testing.T) {
	numbers, err := numbersOf(write(t, house))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		if n.name != "right" {
			continue
		}
		for _, text := range n.with("0.5") {
			if want := strings.Replace(house["house.go"], "4, 0.25", "4, 0.5", 1); string(text) != want {
				t.Errorf("%s", text)
			}
		}
		if string(n.source) != house["house.go"] {
			t.Error("the source was changed")
		}
	}
}

func TestPrint(t *testing.T) {
	s := study{folder: write(t, house), run: "TestFigure", lines: "the figure is", only: regexp.MustCompile("^(one|right|idle|mask)$")}
	var out bytes.Buffer
	if err := s.print(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	want := `as it is
  the figure is 68
one 2 instead of 1
  the figure is 136
right 0.125 instead of 0.25
  the figure is 66
right 0.5 instead of 0.25
  the figure is 72
mask 8 instead of 0x10: exit status 1
  the figure is 34
mask 32 instead of 0x10
  the figure is 136
idle 1 instead of 3: no change
idle 6 instead of 3: no change
`
	if got := out.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	if s.lines = "no such figure"; s.print(t.Context(), &out) == nil {
		t.Error("a test without the line has been taken")
	}
	if s.folder = filepath.Join(s.folder, "nowhere"); s.print(t.Context(), &out) == nil {
		t.Error("a folder that is not there has been taken")
	}
}
