// This file is the program: it plays one seed and says what it saw.

// Cluster is a training cluster in one process: masters, drivers, agents, guards, stores and journals are the library's own, and the
// machines, the network, the disks and the trainers around them are played. It is built with the runtime of package world, whose clock
// moves when everybody sleeps and which draws from the seed alone, so that a seed is a run, byte for byte.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

func main() {
	var o options
	flag.Uint64Var(&o.Seed, "seed", 1, "what is drawn")
	flag.DurationVar(&o.For, "for", 10*time.Minute, "how long faults come; after that all is repaired, and every job has to end")
	flag.IntVar(&o.Servers, "servers", 4, "machines beside the master's")
	flag.IntVar(&o.Jobs, "jobs", 6, "jobs that are there at a time")
	flag.DurationVar(&o.Every, "every", 20*time.Second, "the mean time from one fault to the next")
	flag.StringVar(&o.Bug, "bug", "", "a bug of the surroundings that must be found: "+strings.Join(bugs, ", "))
	signed := flag.String("wire", "", "whether what masters and agents say is signed, by package wire: true, false; empty: with every second seed")
	only := flag.String("only", "", "the numbers of the faults that are played, with commas; empty: all")
	flag.BoolVar(&o.Steps, "steps", false, "tell what has happened to each job as steps of the run protocol")
	flag.BoolVar(&o.Trace, "trace", false, "print what happens")
	flag.Parse()
	for field := range strings.SplitSeq(*only, ",") {
		if n, err := strconv.Atoi(field); err == nil {
			o.Only = append(o.Only, n)
		}
	}
	o.Wire = *signed == "true" || *signed == "" && o.Seed%2 == 0
	bubble(func() {
		go collect()
		came := newWorld(o).play()
		text, _ := json.Marshal(came)
		fmt.Println(string(text))
		// Goroutines that wait for ever are left where they are.
		if len(came.Violations) > 0 {
			os.Exit(1)
		}
		os.Exit(0)
	})
}

// collect frees memory at moments of the run: the collector must not come between goroutines when it likes.
func collect() {
	debug.SetGCPercent(-1)
	for {
		time.Sleep(time.Minute + 1)
		runtime.GC()
	}
}
