// This file builds programs, wheels and the site.

package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// allPlatforms are those that programs are built for.
var allPlatforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// programs are what is built, with the systems that each runs on: what starts processes or hands folders over needs Linux.
var programs = []struct {
	folder  string
	systems []string
}{
	{"examples/apportion", []string{"linux", "darwin", "windows"}},
	{"examples/kubernetes/kubectl-apportion", []string{"linux", "darwin", "windows"}},
	{"examples/kubernetes/apportion-kubernetes", []string{"linux"}},
	{"examples/nomad/apportion-nomad", []string{"linux"}},
	{"examples/slurm/apportion-slurm", []string{"linux"}},
	{"examples/yarn/apportion-yarn", []string{"linux"}},
	{"checkpoint/guard/apportion-guard", []string{"linux"}},
}

// wants reports whether a program is built: a test builds one of them.
func (r *release) wants(folder string) bool {
	return r.only == nil || slices.Contains(r.only, folder)
}

// programs builds each from the modules that were packed, as a user does who installs it by its version: static, and with the version
// in it.
func (r *release) programs(ctx context.Context) error {
	library, err := os.ReadFile(filepath.Join(r.clone, "go.mod"))
	if err != nil {
		return err
	}
	if err := r.download(ctx); err != nil {
		return err
	}
	cache, err := r.command(ctx, "", nil, "go", "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	for _, platform := range r.platforms {
		system, machine, _ := strings.Cut(platform, "/")
		env := []string{"GOOS=" + system, "GOARCH=" + machine, "CGO_ENABLED=0", "GOPATH=" + home, "GOMODCACHE=" + filepath.Join(home, "mod"), "GOBIN=",
			"GOFLAGS=-mod=mod -modcacherw -trimpath -ldflags=-s", "GOSUMDB=off", "GOWORK=off",
			"GOPROXY=file://" + filepath.Join(r.out, "modules") + ",file://" + filepath.Join(cache, "cache", "download")}
		for _, program := range programs {
			if !slices.Contains(program.systems, system) || !r.wants(program.folder) {
				continue
			}
			// A program is installed in no work tree.
			if _, err := r.command(ctx, home, env, "go", "install", modfile.ModulePath(library)+"/"+program.folder+"@"+r.version); err != nil {
				return err
			}
			name, ending, bin := path.Base(program.folder), "", filepath.Join(home, "bin")
			if system == "windows" {
				ending = ".exe"
			}
			if platform != runtime.GOOS+"/"+runtime.GOARCH {
				bin = filepath.Join(bin, system+"_"+machine)
			}
			to := filepath.Join(r.out, strings.Join([]string{name, r.version, system, machine}, "_")+ending)
			if err := move(filepath.Join(bin, name+ending), to); err != nil {
				return err
			}
		}
	}
	return nil
}

// download fetches what the programs that are built need from elsewhere into the module cache of this machine, by the sums of the
// repository: those that build them take it from there.
func (r *release) download(ctx context.Context) error {
	for _, folder := range r.modules {
		for _, program := range programs {
			if !r.wants(program.folder) || !strings.HasPrefix(filepath.Join(r.clone, program.folder), folder) {
				continue
			}
			if _, err := r.command(ctx, folder, nil, "go", "mod", "download"); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// move moves a file, across disks too.
func move(from, to string) error {
	data, err := os.ReadFile(from)
	return errors.Join(err, os.WriteFile(to, data, 0o755), os.Remove(from))
}

// wheels builds the wheels for Python: those of all platforms where the Zig compiler is installed, else that of this machine.
func (r *release) wheels(ctx context.Context) error {
	source, err := os.ReadFile(filepath.Join(r.clone, "examples", "python", "build.py"))
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("VERSION = %q", strings.TrimPrefix(r.version, "v")); !strings.Contains(string(source), want) {
		return fmt.Errorf("examples/python/build.py does not say %s", want)
	}
	dist, err := os.MkdirTemp("", "wheels")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dist)
	args := []string{"python3", "build.py", "--into", dist}
	if _, err := r.command(ctx, "", nil, "python3", "-c", "import ziglang"); err == nil {
		args = append(args, "--zig", "all")
	} else {
		fmt.Fprintln(r.log, "# ziglang is not installed: the wheel of this machine alone")
	}
	if _, err := r.command(ctx, filepath.Join(r.clone, "examples", "python"), []string{"PYTHONDONTWRITEBYTECODE=1"}, args...); err != nil {
		return err
	}
	wheels, err := filepath.Glob(filepath.Join(dist, "*.whl"))
	if err != nil || len(wheels) == 0 {
		return fmt.Errorf("%d wheels, %w", len(wheels), err)
	}
	for _, wheel := range wheels {
		if err := move(wheel, filepath.Join(r.out, filepath.Base(wheel))); err != nil {
			return err
		}
	}
	return nil
}

// site makes the site and packs it.
func (r *release) site(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "site")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	args := []string{"go", "run", ".", "-out", folder}
	if r.only != nil {
		args = append(args, "-playground=false") // a test builds it elsewhere
	}
	if _, err := r.command(ctx, filepath.Join(r.clone, "internal", "site"), []string{"GOWORK=off"}, args...); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(r.out, "site_"+r.version+".tar.gz"))
	if err != nil {
		return err
	}
	return errors.Join(archive(file, folder), file.Close())
}

// archive writes the files of a folder, in the order of their names and without times and owners.
func archive(w io.Writer, folder string) error {
	packed := gzip.NewWriter(w)
	files := tar.NewWriter(packed)
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(folder, name)
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: "site/" + filepath.ToSlash(rel), Mode: 0o644, Size: int64(len(data)), Format: tar.FormatUSTAR}
		if err := files.WriteHeader(header); err != nil {
			return err
		}
		_, err = files.Write(data)
		return err
	})
	return errors.Join(err, files.Close(), packed.Close())
}
