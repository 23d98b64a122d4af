// This file tests what "apportion version" prints.

package main

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

func TestVersion(t *testing.T) {
	setting := func(pairs ...string) []debug.BuildSetting {
		var list []debug.BuildSetting
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return list
	}
	for _, test := range []struct {
		version  string
		settings []debug.BuildSetting
		want     string
	}{
		{"v0.1.0", nil, "apportion v0.1.0 (go1.25.0)"},
		{"v0.1.0", setting("vcs.revision", "abc"), "apportion v0.1.0 (go1.25.0)"},
		{"(devel)", setting("vcs.revision", "abc", "vcs.modified", "false"), "apportion abc (go1.25.0)"},
		{"", setting("vcs.revision", "abc", "vcs.modified", "true"), "apportion abc (go1.25.0, changed since)"},
		{"(devel)", nil, "apportion (devel) (go1.25.0)"},
		{"", nil, "apportion (devel) (go1.25.0)"},
	} {
		info := &debug.BuildInfo{GoVersion: "go1.25.0", Main: debug.Module{Version: test.version}, Settings: test.settings}
		must.Equal(t, versionOf(info), test.want, test.version, "with", test.settings)
	}
	if code, out, errs := call(t, "", "version"); code != answered || !strings.HasPrefix(out, "apportion ") || errs != "" {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
}
