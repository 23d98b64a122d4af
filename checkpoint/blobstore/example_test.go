// This file shows how checkpoints get into a bucket.

package blobstore_test

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/blobstore"

	_ "gocloud.dev/blob/memblob" // the driver of mem://; those of s3://, gs:// and azblob:// likewise
)

func Example() {
	ctx := context.Background()
	store, err := blobstore.Open(ctx, "mem://", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	manifest, err := save(ctx, store, 1, "0.25 0.75")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(manifest.Job, manifest.Number, manifest.Parts[0].Name, manifest.Parts[0].Bytes, "bytes")

	reader, err := store.Open(ctx, "lr", 1)
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

// save commits a checkpoint of job lr that has one part.
func save(ctx context.Context, store checkpoint.Store, number int64, weights string) (checkpoint.Manifest, error) {
	writer, err := store.Begin(ctx, "lr", number)
	if err != nil {
		return checkpoint.Manifest{}, err
	}
	defer writer.Abort() // does nothing once it is committed
	part, err := writer.Part("weights")
	if err != nil {
		return checkpoint.Manifest{}, err
	}
	if _, err := io.WriteString(part, weights); err != nil {
		return checkpoint.Manifest{}, err
	}
	if err := part.Close(); err != nil {
		return checkpoint.Manifest{}, err
	}
	return writer.Commit()
}
