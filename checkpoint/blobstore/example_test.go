// This file shows how the files of a training job get into a bucket and out again. How a part is written
// without a file is in the example of package store/files.

package blobstore_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "gocloud.dev/blob/memblob" // the driver of mem://; those of s3://, gs:// and azblob:// likewise

	"github.com/apportion/apportion/checkpoint/blobstore"
	"github.com/apportion/apportion/checkpoint/store"
)

func Example() {
	ctx := context.Background()
	s, err := blobstore.Open(ctx, "mem://", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	dir, err := os.MkdirTemp("", "training")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "weights"), []byte("0.25 0.75"), 0o600); err != nil {
		log.Fatal(err)
	}

	manifest, err := store.Save(ctx, s, "lr", 1, store.Files{Dir: dir, Names: []string{"weights"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(manifest.Job, manifest.Number, manifest.Parts[0].Name, manifest.Parts[0].Bytes, "bytes")

	restored := filepath.Join(dir, "restored")
	if _, err := store.Load(ctx, s, "lr", 1, restored); err != nil { // fails if a byte is not the one that was saved
		log.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(restored, "weights"))
	fmt.Printf("%s %v\n", content, err)
	// Output:
	// lr 1 weights 9 bytes
	// 0.25 0.75 <nil>
}
