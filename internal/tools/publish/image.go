// This file packs the controllers and the guard into a container image. One of static programs needs no builder and no other image below
// it: an archive of an OCI image layout (image-spec v1) is files of JSON and one layer for each machine, the same each time.

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// What the image runs, and as whom: a number that has no name and no rights. Its programs are in imageFolder.
const (
	imageProgram = "apportion-kubernetes"
	imageUser    = "65532:65532"
	imageFolder  = "usr/local/bin"
)

func mediaType(of string) string { return "application/vnd.oci.image." + of }

// descriptor names a blob of an image.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *machine          `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// machine is what programs of an image run on.
type machine struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// manifest is the image of one machine, or where it has Manifests that of several.
type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        *descriptor  `json:"config,omitempty"`
	Layers        []descriptor `json:"layers,omitempty"`
	Manifests     []descriptor `json:"manifests,omitempty"`
}

// imageConfig says how a container is made of an image.
type imageConfig struct {
	machine
	Config struct {
		User       string
		Env        []string
		Entrypoint []string
		Labels     map[string]string
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

// blobs are the parts of an image by their digests.
type blobs map[string][]byte

func digestOf(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

func (b blobs) add(of string, data []byte) descriptor {
	digest := digestOf(data)
	b[digest] = data
	return descriptor{MediaType: mediaType(of), Digest: digest, Size: len(data)}
}

func (b blobs) addJSON(of string, value any) (descriptor, error) {
	text, err := json.Marshal(value)
	return b.add(of, text), err
}

// image packs the programs that run on Linux alone, for all machines that they were built for, and writes the digest of it all beside.
func (r *release) image(context.Context) error {
	parts, all := blobs{}, manifest{SchemaVersion: 2, MediaType: mediaType("index.v1+json")}
	for _, platform := range r.platforms {
		system, architecture, _ := strings.Cut(platform, "/")
		if system != "linux" {
			continue
		}
		one, err := r.imageOf(parts, machine{architecture, system})
		if err != nil {
			return err
		}
		all.Manifests = append(all.Manifests, one)
	}
	if len(all.Manifests) == 0 {
		return errors.New("an image is of programs for Linux")
	}
	whole, err := parts.addJSON("index.v1+json", all)
	if err != nil {
		return err
	}
	name := filepath.Join(r.out, "image_"+r.version)
	file, err := os.Create(name + ".tar")
	if err != nil {
		return err
	}
	fmt.Fprintln(r.log, "# image", whole.Digest)
	return errors.Join(writeLayout(file, parts, whole, r.version), file.Close(), os.WriteFile(name+".digest", []byte(whole.Digest+"\n"), 0o644))
}

func (r *release) imageOf(parts blobs, m machine) (descriptor, error) {
	layer, err := r.layer(m)
	if err != nil {
		return descriptor{}, err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err = w.Write(layer)
	if err := errors.Join(err, w.Close()); err != nil {
		return descriptor{}, err
	}
	c := imageConfig{machine: m}
	c.Config.User, c.Config.Entrypoint, c.Config.Env = imageUser, []string{"/" + path.Join(imageFolder, imageProgram)}, []string{"PATH=/" + imageFolder}
	c.Config.Labels = map[string]string{"org.opencontainers.image.version": r.version, "org.opencontainers.image.source": "https://github.com/apportion/apportion"}
	c.RootFS.Type, c.RootFS.DiffIDs = "layers", []string{digestOf(layer)}
	config, err := parts.addJSON("config.v1+json", c)
	if err != nil {
		return descriptor{}, err
	}
	one := manifest{SchemaVersion: 2, MediaType: mediaType("manifest.v1+json"), Config: &config, Layers: []descriptor{parts.add("layer.v1.tar+gzip", packed.Bytes())}}
	found, err := parts.addJSON("manifest.v1+json", one)
	found.Platform = &m
	return found, err
}

// layer is what a container of the image sees: programs, which are root's, and a folder for what is written for a while.
func (r *release) layer(m machine) ([]byte, error) {
	var text bytes.Buffer
	w := tar.NewWriter(&text)
	var faults error
	add := func(name string, mode int64, data []byte) {
		header := tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(data)), Format: tar.FormatUSTAR}
		if strings.HasSuffix(name, "/") {
			header.Typeflag = tar.TypeDir
		}
		faults = errors.Join(faults, w.WriteHeader(&header))
		_, err := w.Write(data)
		faults = errors.Join(faults, err)
	}
	add("tmp/", 0o1777, nil)
	for _, folder := range []string{"usr/", "usr/local/", imageFolder + "/"} {
		add(folder, 0o755, nil)
	}
	for _, program := range programs {
		if len(program.systems) > 1 || !r.wants(program.folder) {
			continue
		}
		name := path.Base(program.folder)
		data, err := os.ReadFile(filepath.Join(r.out, strings.Join([]string{name, r.version, m.OS, m.Architecture}, "_")))
		if err != nil {
			return nil, err
		}
		add(path.Join(imageFolder, name), 0o755, data)
	}
	return text.Bytes(), errors.Join(faults, w.Close())
}

// writeLayout writes an image as an archive that skopeo, crane, podman and docker read.
func writeLayout(to io.Writer, parts blobs, whole descriptor, version string) error {
	whole.Annotations = map[string]string{"org.opencontainers.image.ref.name": version}
	index, err := json.Marshal(manifest{SchemaVersion: 2, MediaType: mediaType("index.v1+json"), Manifests: []descriptor{whole}})
	files := map[string][]byte{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`), "index.json": index}
	for digest, data := range parts {
		files["blobs/"+strings.Replace(digest, ":", "/", 1)] = data
	}
	w := tar.NewWriter(to)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(files[name])), Format: tar.FormatUSTAR}
		err = errors.Join(err, w.WriteHeader(header))
		_, wrote := w.Write(files[name])
		err = errors.Join(err, wrote)
	}
	return errors.Join(err, w.Close())
}
