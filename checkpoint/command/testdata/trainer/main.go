// Command trainer is the job of BenchmarkAdjust: a loop that costs nothing, so that what is measured is ours. It saves its number of steps,
// goes on from the checkpoint that it is given, and says by a byte to a pipe that it has made its first step.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	step, answered := 0, ""
	if dir := os.Getenv("APPORTION_RESTORE_DIR"); dir != "" {
		step, _ = strconv.Atoi(text(dir + "/state"))
	}
	for ; ; time.Sleep(time.Millisecond) {
		step++
		fmt.Printf("{\"step\":%d}\n", step)
		if name := os.Getenv("FIRST_STEP"); name != "" {
			os.Unsetenv("FIRST_STEP")
			pipe, err := os.OpenFile(name, os.O_WRONLY, 0)
			must(err)
			_, err = pipe.WriteString("1")
			must(err)
		}
		request := text(os.Getenv("APPORTION_SAVE_REQUEST"))
		if request == answered {
			continue
		}
		answered = request
		replace(os.Getenv("APPORTION_CHECKPOINT_DIR")+"/state", strconv.Itoa(step))
		replace(os.Getenv("APPORTION_SAVE_ACK"), fmt.Sprintf(`{"request":%s,"step":%d,"files":["state"]}`, request, step))
	}
}

// text is what a file holds, without the line end; empty if it is not there.
func text(name string) string {
	contents, _ := os.ReadFile(name)
	return strings.TrimSpace(string(contents))
}

func replace(name, contents string) {
	must(os.WriteFile(name+".new", []byte(contents), 0o600))
	must(os.Rename(name+".new", name))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
