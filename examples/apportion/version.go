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
	if !ok {
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
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision" && (version == "" || version == "(devel)"):
			version = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			changed = ", changed since"
		}
	}
	if version == "" {
		version = "(devel)"
	}
	return fmt.Sprintf("apportion %s (%s%s)", version, info.GoVersion, changed)
}
