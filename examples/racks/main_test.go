package main

import (
	"testing"

	"github.com/apportion/apportion/examples/internal/exampletest"
)

func TestRun(t *testing.T) { exampletest.Run(t, run) }
