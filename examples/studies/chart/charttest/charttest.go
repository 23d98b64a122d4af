// This file checks the figures that a command writes.

// Package charttest checks the figures that an example writes.
package charttest

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/examples/studies/chart"
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
	files := filesBelow(t, first)
	if want := pictures * len(chart.Formats); len(files) != want {
		t.Fatalf("%d files, want %d: %v", len(files), want, files)
	}
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(first, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "png") {
			checkPNG(t, name, data)
		} else {
			checkSVG(t, name, data, legends)
		}
		if same, err := os.ReadFile(filepath.Join(again, name)); err != nil || !bytes.Equal(data, same) {
			t.Errorf("%s differs in a second run (%v)", name, err)
		}
	}
}

// filesBelow returns the files in a folder and in its folders.
func filesBelow(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, filepath.FromSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// checkPNG decodes a picture and looks for more colours than a blank page has.
func checkPNG(t *testing.T, name string, data []byte) {
	t.Helper()
	if picture, err := png.Decode(bytes.NewReader(data)); err != nil || picture.Bounds().Dx() < 800 {
		t.Errorf("%s: %v, want a picture of at least 800 points", name, err)
	}
}

// checkSVG parses a picture as XML and looks for each legend in its text.
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
