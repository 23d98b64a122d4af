//go:build linux

package command_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/runner"
)

// A job that trains until it is asked to save, is stopped, and resumed with two containers. Real jobs are
// programs; the shell stands for one here.
func ExampleRunner() {
	folder, err := os.MkdirTemp("", "command")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)

	const train = `
		while [ ! -e "$APPORTION_SAVE_REQUEST" ]; do sleep 0.01; done
		echo 120 > "$APPORTION_CHECKPOINT_DIR/weights"
		echo '{"request": '$(cat "$APPORTION_SAVE_REQUEST")', "step": 120, "files": ["weights"]}' > "$APPORTION_SAVE_ACK"
		sleep 3600`
	const resume = `
		step=$(cat "$APPORTION_RESTORE_DIR/weights")
		echo '{"step": '$((step + 30))', "value": 0.25, "done": true}'`
	jobs, err := command.New(command.Commands{
		Start:  []string{"/bin/sh", "-c", train},
		Resume: []string{"/bin/sh", "-c", resume},
		Work:   filepath.Join(folder, "work"),
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer jobs.Close()

	ctx := context.Background()
	first := runner.Run{Job: "vae", Attempt: 1, Containers: []string{"node-1"}, Dir: filepath.Join(folder, "one")}
	if err := jobs.Resume(ctx, first); err != nil {
		log.Fatal(err)
	}
	saved, err := jobs.Save(ctx, first)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("saved", saved.Files, "at step", saved.Step)
	if err := jobs.Stop(ctx, first); err != nil {
		log.Fatal(err)
	}

	second := runner.Run{
		Job: "vae", Attempt: 2, Containers: []string{"node-1", "node-1"}, Dir: filepath.Join(folder, "two"), Restore: saved.Dir,
	}
	if err := jobs.Resume(ctx, second); err != nil {
		log.Fatal(err)
	}
	progress := runner.Progress{}
	for !progress.Done {
		time.Sleep(10 * time.Millisecond)
		if progress, err = jobs.Progress(ctx, second); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("done at step", progress.Step)
	fmt.Println("the first attempt now:", jobs.Resume(ctx, first) != nil)
	// Output:
	// saved [weights] at step 120
	// done at step 150
	// the first attempt now: true
}
