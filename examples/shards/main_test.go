package main

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/examples/internal/exampletest"
)

// TestMain lets this binary be a rank, as the program itself.
func TestMain(m *testing.M) {
	if os.Getenv(command.EnvRank) != "" {
		rank()
	}
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("jobs of commands need Linux")
	}
	exampletest.Run(t, run)
}

// TestReadme: the README of the examples shows what the program prints.
func TestReadme(t *testing.T) {
	printed, err := os.ReadFile("testdata/cases/output")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, output, _ := strings.Cut(string(printed), "----\n")
	if output == "" || !strings.Contains(string(readme), "```\n"+output+"```\n") {
		t.Errorf("the README does not show\n%s", output)
	}
}
