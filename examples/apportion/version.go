// This file implements "apportion version".

package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

// answerVersion prints the version of the module that the command was built from, and of Go.
func answerVersion(_ context.Context, c *command) error {
	info, ok := debug.ReadBuildInfo()
	// A binary that was built without modules has no such information.
	if !ok {
		// The version of Go is then that of the running binary, which is the same.
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	_, err := fmt.Fprintln(c.out, versionOf(info))
	return err
}

// versionOf writes a line as "apportion v0.1.0 (go1.25.0)". A command that was built in a work tree has the
// commit instead of a version, where the build has noted it.
func versionOf(info *debug.BuildInfo) string {
	// "go install ...@version" leaves the version here, and no settings of version control.
	version, changed := info.Main.Version, ""
	// The settings have no order that could be relied on, so each is looked at by itself.
	for _, setting := range info.Settings {
		switch {
		// A published version says more than its commit, so it stays.
		case setting.Key == "vcs.revision" && (version == "" || version == "(devel)"):
			version = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			changed = ", changed since"
		}
	}
	// Nothing is known but that it was built from a work tree.
	if version == "" {
		version = "(devel)"
	}
	// The compiler stands beside it: rounding of floats may differ between versions of Go.
	return fmt.Sprintf("apportion %s (%s%s)", version, info.GoVersion, changed)
}
