// This file opens the store for checkpoints: the place's own, or a bucket.

package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	_ "gocloud.dev/blob/s3blob" // the driver of s3://

	"github.com/apportion/apportion/checkpoint/blobstore"
	"github.com/apportion/apportion/checkpoint/store"
)

// storeVariable tells the programs of a cluster the URL of the bucket that keeps the checkpoints; empty:
// the place does.
const storeVariable = "APPORTION_LIVE_STORE"

// storeFromEnvironment opens the bucket that the environment names; nil if it names none.
// The URL is gocloud's, with the endpoint of the server.
func storeFromEnvironment(ctx context.Context) (store.Store, error) {
	url := os.Getenv(storeVariable)
	if url == "" {
		return nil, nil
	}
	return blobstore.Open(ctx, url, nil)
}

// bucket is the name of the only one of the server.
const bucket = "checkpoints"

// serveS3 runs a server on the loopback that speaks S3 and keeps everything in memory, and tells the
// programs of clusters that are started until close is called to keep their checkpoints there.
// The environment is put back by close as it was.
func serveS3() (close func() error, err error) {
	backend := s3mem.New()
	if err := backend.CreateBucket(bucket); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server(),
		ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	environment := map[string]string{
		storeVariable:       "s3://" + bucket + "?region=us-east-1&use_path_style=true&endpoint=http://" + listener.Addr().String(),
		"AWS_ACCESS_KEY_ID": "live", "AWS_SECRET_ACCESS_KEY": "live", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	}
	before := map[string]string{}
	for name, value := range environment {
		before[name] = os.Getenv(name)
		err = errors.Join(err, os.Setenv(name, value))
	}
	return func() error {
		err := server.Close()
		for name := range environment {
			err = errors.Join(err, os.Unsetenv(name))
			if before[name] != "" {
				err = errors.Join(err, os.Setenv(name, before[name]))
			}
		}
		if end := <-served; !errors.Is(end, http.ErrServerClosed) {
			err = errors.Join(err, end)
		}
		return err
	}, err
}
