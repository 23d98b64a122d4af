// Playground is the optimizer in a browser: change a job, lose a server, move theta, and see what is decided and why. It builds the command
// for WebAssembly and serves it with a page on this machine, or writes both into a folder for any web server.
package main

import (
	"compress/gzip"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// web is the page: files that a browser takes as they are.
//
//go:embed web
var web embed.FS

func main() {
	command := flag.String("command", "../apportion", "the folder of the command")
	out := flag.String("out", "", "write the files into this folder, and serve nothing")
	listen := flag.String("listen", "127.0.0.1:8090", "the address to serve on")
	flag.Parse()
	if err := run(*command, *out, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "playground:", err)
		os.Exit(1)
	}
}

func run(command, out, listen string) error {
	folder := out
	if out == "" {
		made, err := os.MkdirTemp("", "playground")
		if err != nil {
			return err
		}
		defer os.RemoveAll(made)
		folder = made
	}
	fmt.Println("building the command for the browser")
	if err := build(context.Background(), command, folder); err != nil || out != "" {
		return err
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/\n", listener.Addr())
	server := &http.Server{Handler: http.FileServer(http.Dir(folder)), ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}

// build writes the page, the command in WebAssembly, and what Go needs to run it, into a folder.
func build(ctx context.Context, command, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	files, err := fs.Sub(web, "web")
	if err != nil {
		return err
	}
	if err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		return errors.Join(err, os.WriteFile(filepath.Join(folder, path), text, 0o644))
	}); err != nil {
		return err
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	support, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "wasm_exec.js"), support, 0o644); err != nil {
		return err
	}
	program := filepath.Join(folder, "apportion.wasm")
	program, err = filepath.Abs(program)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, ".")
	cmd.Dir, cmd.Env = command, append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	return compress(program)
}

// compress puts a file into one with .gz at the end of its name, and takes the first away.
func compress(path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(path + ".gz")
	if err != nil {
		return err
	}
	w, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return errors.Join(err, w.Close(), out.Close(), os.Remove(path))
}
