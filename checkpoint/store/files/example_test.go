// This file shows how checkpoints get into a directory.

package files_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/store/files"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "checkpoints")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := files.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	manifest, err := save(ctx, s, 1, "0.25 0.75")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(manifest.Job, manifest.Number, manifest.Parts[0].Name, manifest.Parts[0].Bytes, "bytes")

	reader, err := s.Open(ctx, "lr", 1)
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	part, err := reader.Part("weights")
	if err != nil {
		log.Fatal(err)
	}
	defer part.Close()
	content, err := io.ReadAll(part) // fails if a byte is not the one that was committed
	fmt.Printf("%s %v\n", content, err)
	// Output:
	// lr 1 weights 9 bytes
	// 0.25 0.75 <nil>
}

func save(ctx context.Context, s store.Store, number int64, weights string) (store.Manifest, error) {
	writer, err := s.Begin(ctx, "lr", number)
	if err != nil {
		return store.Manifest{}, err
	}
	defer writer.Abort() // does nothing once it is committed
	part, err := writer.Part("weights")
	if err != nil {
		return store.Manifest{}, err
	}
	if _, err := io.WriteString(part, weights); err != nil {
		return store.Manifest{}, err
	}
	if err := part.Close(); err != nil {
		return store.Manifest{}, err
	}
	return writer.Commit()
}

// A caller that knows which checkpoint it could resume from pins that one.
func ExampleOptions() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "checkpoints")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	confirmed := map[string]int64{"lr": 2}
	s, err := files.Open(dir, &files.Options{
		Keep:   2,
		Pinned: func(job string, number int64) bool { return number == confirmed[job] },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for number := range int64(6) {
		if _, err := save(ctx, s, number+1, "content"); err != nil {
			log.Fatal(err)
		}
	}
	list, err := s.List(ctx, "lr")
	for _, manifest := range list {
		fmt.Print(manifest.Number, " ")
	}
	fmt.Println(err)
	// Output:
	// 2 5 6 <nil>
}
