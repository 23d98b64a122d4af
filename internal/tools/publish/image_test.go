// This file reads back images that were made, blob by blob.

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// unpack reads an archive.
func unpack(t *testing.T, text io.Reader) (files map[string][]byte, headers map[string]*tar.Header) {
	t.Helper()
	files, headers = map[string][]byte{}, map[string]*tar.Header{}
	for archive := tar.NewReader(text); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, headers
		}
		if err != nil || headers[header.Name] != nil {
			t.Fatalf("%v, or the name is there before: %+v", err, header)
		}
		headers[header.Name] = header
		if files[header.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}

// stored is an image as it is read back.
type stored struct {
	*testing.T
	files map[string][]byte
	used  map[string]bool
}

// blob is what a descriptor names, of its size and with its digest.
func (s *stored) blob(d descriptor, of string) []byte {
	s.Helper()
	name := "blobs/" + strings.Replace(d.Digest, ":", "/", 1)
	data, there := s.files[name]
	if !there || len(data) != d.Size || digestOf(data) != d.Digest || d.MediaType != "application/vnd.oci.image."+of {
		s.Fatalf("%+v: %d bytes, %s", d, len(data), digestOf(data))
	}
	s.used[name] = true
	return data
}

// parse reads JSON without unknown fields.
func parse[T any](t *testing.T, text []byte) (value T) {
	t.Helper()
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return value
}

// An image has the programs of each machine that run on Linux alone, is nobody's, and is the same each time.
func TestImage(t *testing.T) {
	make := func() *release {
		r := &release{out: t.TempDir(), version: "v0.1.0", platforms: []string{"linux/amd64", "darwin/arm64", "linux/arm64"}, log: io.Discard}
		for _, m := range []string{"amd64", "arm64"} {
			for _, p := range programs {
				name := filepath.Join(r.out, path.Base(p.folder)+"_v0.1.0_linux_"+m)
				if err := os.WriteFile(name, []byte(name[len(r.out):]), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := r.image(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := make()
	text := contentsOf(t, r.out, "image_v0.1.0.tar")
	if again := contentsOf(t, make().out, "image_v0.1.0.tar"); again != text {
		t.Error("two images of the same programs differ")
	}
	files, _ := unpack(t, strings.NewReader(text))
	s := &stored{t, files, map[string]bool{"index.json": true, "oci-layout": true}}
	entry := parse[manifest](t, files["index.json"]).Manifests
	if len(entry) != 1 || contentsOf(t, r.out, "image_v0.1.0.digest") != entry[0].Digest+"\n" || entry[0].Annotations["org.opencontainers.image.ref.name"] != "v0.1.0" {
		t.Fatalf("%+v", entry)
	}
	all := parse[manifest](t, s.blob(entry[0], "index.v1+json")).Manifests
	if len(all) != 2 || *all[0].Platform != (machine{"amd64", "linux"}) || *all[1].Platform != (machine{"arm64", "linux"}) {
		t.Fatalf("%+v", all)
	}
	for _, one := range all {
		s.holds(parse[manifest](t, s.blob(one, "manifest.v1+json")), *one.Platform)
	}
	for name := range files {
		if !s.used[name] {
			t.Errorf("nothing names %s", name)
		}
	}
	if err := (&release{platforms: []string{"darwin/arm64"}}).image(t.Context()); err == nil {
		t.Error("an image without Linux")
	}
	if err := (&release{out: t.TempDir(), platforms: []string{"linux/arm64"}}).image(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an image without programs: %v", err)
	}
}

// holds checks the image of a machine.
func (s *stored) holds(of manifest, m machine) {
	s.Helper()
	c := parse[imageConfig](s.T, s.blob(*of.Config, "config.v1+json"))
	if c.machine != m || c.Config.User != "65532:65532" || len(c.Config.Entrypoint) != 1 || len(of.Layers) != 1 || len(c.RootFS.DiffIDs) != 1 {
		s.Fatalf("%+v of %+v", c, of)
	}
	packed, err := gzip.NewReader(bytes.NewReader(s.blob(of.Layers[0], "layer.v1.tar+gzip")))
	if err != nil {
		s.Fatal(err)
	}
	layer, err := io.ReadAll(packed)
	if err != nil || digestOf(layer) != c.RootFS.DiffIDs[0] {
		s.Fatalf("%v, the layer is %s and should be %s", err, digestOf(layer), c.RootFS.DiffIDs[0])
	}
	files, headers := unpack(s.T, bytes.NewReader(layer))
	for _, name := range []string{"kubernetes", "nomad", "slurm", "yarn", "guard"} {
		at := "usr/local/bin/apportion-" + name
		if h := headers[at]; h == nil || h.Mode != 0o755 || h.Uid != 0 || string(files[at]) != "/apportion-"+name+"_v0.1.0_linux_"+m.Architecture {
			s.Errorf("%s: %+v, %s", at, h, files[at])
		}
	}
	if headers["tmp/"].Mode != 0o1777 || len(files) != 9 || headers[strings.TrimPrefix(c.Config.Entrypoint[0], "/")] == nil {
		s.Errorf("%d files, %v", len(files), c.Config.Entrypoint)
	}
}
