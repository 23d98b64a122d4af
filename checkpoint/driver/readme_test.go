// This file holds the samples of the README to code that is compiled and run.

package driver_test

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"log"
	"os"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
)

// embed is the first sample of the README, for those who carry decisions out themselves.
func embed(ctx context.Context, servers []apportion.Server, applications []alloc.Application, running alloc.Allocation, carryOut func(alloc.Step)) error {
	problem := &alloc.Problem{
		Kinds:        apportion.Kinds{"cpu", "gpu", "memory"},
		Servers:      servers,
		Applications: applications,
		Previous:     running,
		Theta1:       0.1, Theta2: 0.1,
	}
	decision, err := alloc.Reallocate(ctx, problem, nil)
	if err != nil {
		return err
	}
	for _, step := range alloc.NewPlan(problem, decision.Allocation).Steps {
		carryOut(step)
	}
	explanation, err := alloc.Explain(problem, decision)
	if err != nil {
		return err
	}
	log.Print(explanation)
	return nil
}

func TestReadmeSampleRuns(t *testing.T) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	steps := 0
	err := embed(t.Context(), []apportion.Server{{ID: "node-1", Capacity: apportion.Resources{8, 2, 64}}},
		[]alloc.Application{{ID: "resnet", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{2, 1, 8}, Min: 1, Max: 8}}}, nil, func(alloc.Step) { steps++ })
	if err != nil || steps != 2 {
		t.Errorf("%d steps, %v", steps, err)
	}
}

// The samples are the bodies of embed, above, and of decide, in the example.
func TestReadme(t *testing.T) {
	text := must.Have(os.ReadFile("../../README.md"))(t)
	_, section, _ := strings.Cut(string(text), "\n## Embedding it\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var samples []string
	for _, block := range strings.Split(section, "```go\n")[1:] {
		sample, _, _ := strings.Cut(block, "```")
		samples = append(samples, statements(t, "README", "package p\nfunc sample() error {\n"+sample+"\n}\n", "sample"))
	}
	must.Equal(t, len(samples), 2, "samples")
	for i, name := range []string{"embed", "decide"} {
		file := []string{"readme_test.go", "example_test.go"}[i]
		code := must.Have(os.ReadFile(file))(t)
		must.Equal(t, samples[i], strings.TrimSuffix(statements(t, file, string(code), name), "return nil\n"), "the README", name)
	}
}

// statements prints the body of a function without comments, in the usual format.
func statements(t *testing.T, file, code, name string) string {
	t.Helper()
	fset := token.NewFileSet()
	syntax := must.Have(parser.ParseFile(fset, file, code, 0))(t)
	for _, decl := range syntax.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Name.Name != name {
			continue
		}
		var text bytes.Buffer
		for _, statement := range f.Body.List {
			must.Do(t, printer.Fprint(&text, token.NewFileSet(), statement))
			fmt.Fprintln(&text)
		}
		return text.String()
	}
	t.Fatalf("%s has no function %s", file, name)
	return ""
}
