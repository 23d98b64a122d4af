// This file compiles and runs the code that README.md shows for embedding the library.

package exampletest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// embedding is a program around the two blocks: the first one runs, the second needs agents and is only compiled.
const embedding = `package main

import (
	"context"
	"fmt"
	"log"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/checkpoint/driver"
)

func decide(ctx context.Context, servers []apportion.Server, applications []alloc.Application, running alloc.Allocation, carryOut func(alloc.Step)) error {
BLOCK
	return nil
}

func adjust(ctx context.Context, d *driver.Driver, applications []alloc.Application) error {
BLOCK
}

func main() {
	_ = adjust
	log.SetFlags(0)
	err := decide(context.Background(), []apportion.Server{{ID: "node-1", Capacity: apportion.Resources{32000, 4, 256}}},
		[]alloc.Application{{ID: "resnet", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{4000, 1, 32}, Min: 1, Max: 8}}},
		alloc.Allocation{"resnet": {"node-1": 2}}, func(s alloc.Step) { fmt.Println(s.Action, s.Application, s.Server, s.Containers) })
	if err != nil {
		log.Fatal(err)
	}
}
`

func TestEmbedding(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	readme := must.Have(os.ReadFile(filepath.Join(root, "README.md")))(t)
	_, section, _ := strings.Cut(string(readme), "\n## Embedding it\n")
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(section, -1)
	must.Equal(t, len(blocks), 2, "blocks of code")
	program := embedding
	for _, block := range blocks {
		program = strings.Replace(program, "BLOCK\n", block[1], 1)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	must.Do(t, os.WriteFile(file, []byte(program), 0o600))
	command := exec.CommandContext(t.Context(), "go", "run", file)
	command.Dir = root
	output, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "create resnet node-1 2\n") {
		t.Errorf("%v\n%s", err, output)
	}
}
