// This file packs a module and lays it into a folder that the go command reads as a module proxy,
// https://go.dev/ref/mod#goproxy-protocol.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// pack packs the released module in the folder dir under a version into the proxy, a folder, and returns its
// path.
func pack(proxy, dir, version string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	name := modfile.ModulePath(text)
	at := filepath.Join(proxy, filepath.FromSlash(name), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return name, err
	}
	mod := filepath.Join(at, version+".mod")
	released, err := released(text)
	if err := errors.Join(err, os.WriteFile(mod, released, 0o600)); err != nil {
		return name, err
	}
	files, err := contents(dir)
	if err != nil {
		return name, err
	}
	for i := range files {
		if files[i].Path() == "go.mod" {
			files[i] = file{mod, "go.mod"}
		}
	}
	var packed bytes.Buffer
	if err := zip.Create(&packed, module.Version{Path: name, Version: version}, files); err != nil {
		return name, fmt.Errorf("%s: %w", name, err)
	}
	for ending, data := range map[string][]byte{"zip": packed.Bytes(), "info": fmt.Appendf(nil, `{"Version": %q}`, version)} {
		if err := os.WriteFile(filepath.Join(at, version+"."+ending), data, 0o600); err != nil {
			return name, err
		}
	}
	return name, os.WriteFile(filepath.Join(at, "list"), []byte(version+"\n"), 0o600)
}

// contents lists the files of the module in dir, without those of modules below it, of folders whose
// name begins with a dot, and of what programs write.
func contents(dir string) ([]zip.File, error) {
	var files []zip.File
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != dir && leftOut(path):
			return fs.SkipDir
		case entry.Type().IsRegular():
			name, err := filepath.Rel(dir, path)
			files = append(files, file{path, filepath.ToSlash(name)})
			return err
		}
		return nil
	})
	return files, err
}

// leftOut reports whether a folder below that of a module is no part of it.
func leftOut(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	base := filepath.Base(folder)
	return err == nil || strings.HasPrefix(base, ".") || base == "out" || base == "rapid"
}

// file is one file of a module: where it lies, and its name in the module.
type file struct{ at, name string }

func (f file) Path() string { return f.name }

func (f file) Lstat() (os.FileInfo, error) { return os.Lstat(f.at) }

func (f file) Open() (io.ReadCloser, error) { return os.Open(f.at) }
