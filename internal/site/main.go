// This file is the command: it makes the site, and shows it.

// Site makes a place to read from the repository: pages of its own, the READMEs, and the playground. All code that its pages show comes
// from files that tests run, and all pictures are drawn from what the library answers. Nothing of it is fetched from elsewhere.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	root := flag.String("root", "../..", "the root of the repository")
	out := flag.String("out", "out", "the folder to write into; files in it are written over")
	playground := flag.Bool("playground", true, "build the playground too, which compiles the command for the browser")
	listen := flag.String("listen", "", "an address to show the site at, as 127.0.0.1:8091; empty: none")
	flag.Parse()
	if err := run(*root, *out, *listen, *playground); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(root, out, listen string, playground bool) error {
	s, err := read(root)
	if err != nil {
		return err
	}
	if err := s.write(out); err != nil {
		return err
	}
	if playground {
		if err := addPlayground(context.Background(), root, out); err != nil {
			return err
		}
	}
	fmt.Printf("%d pages in %s\n", len(s.pages), out)
	if listen == "" {
		return nil
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/\n", listener.Addr())
	server := &http.Server{Handler: http.FileServer(http.Dir(out)), ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}
