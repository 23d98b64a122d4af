// This file checks the figures that a command writes.

// Package charttest checks the figures that an example writes.
package charttest

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/examples/flowcon/chart"
)

// Twice has a command write its figures to two folders, and checks that there are as many pictures as
// wanted in each format, the same in both, that viewers can open them, and that each SVG has one of
// the names of a legend.
func Twice(t *testing.T, write func(out string) error, pictures int, legends ...string) {
	t.Helper()
	first, again := t.TempDir(), t.TempDir()
	for _, out := range []string{first, again} {
		if err := write(out); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(first)
	if want := pictures * len(chart.Formats); err != nil || len(files) != want {
		t.Fatalf("%d files (%v), want %d", len(files), err, want)
	}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(first, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file.Name(), "png") {
			checkPNG(t, file.Name(), data)
		} else {
			checkSVG(t, file.Name(), data, legends)
		}
		if same, err := os.ReadFile(filepath.Join(again, file.Name())); err != nil || !bytes.Equal(data, same) {
			t.Errorf("%s differs in a second run (%v)", file.Name(), err)
		}
	}
}

func checkPNG(t *testing.T, name string, data []byte) {
	t.Helper()
	if picture, err := png.Decode(bytes.NewReader(data)); err != nil || picture.Bounds().Dx() < 800 {
		t.Errorf("%s: %v, want a picture of at least 800 points", name, err)
	}
}

func checkSVG(t *testing.T, name string, data []byte, legends []string) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for _, legend := range legends {
		if bytes.Contains(data, []byte(legend)) {
			return
		}
	}
	t.Errorf("%s has no legend", name)
}
