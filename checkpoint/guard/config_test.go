// This file tests what a guard is told: by its environment, by its flags, and where that makes no sense.

package guard

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/internal/must"
)

// What is set already stays, and the environment fills in the rest.
func TestConfigFromEnvironment(t *testing.T) {
	env := map[string]string{command.EnvJob: "lr", command.EnvAttempt: "5", command.EnvServer: "s1", EnvEpoch: "3", command.EnvRank: "2",
		command.EnvSaveRequest: "/r", command.EnvSaveAck: "/a"}
	all := Config{ID: ID{Job: "lr", Attempt: 5, Server: "s1", Rank: 2}, Epoch: 3, Request: "/r", Acknowledgement: "/a"}
	own := Config{ID: ID{Job: "mine", Attempt: 7, Server: "s9", Rank: 4}, Epoch: 8, Request: "/mine", Acknowledgement: "/own"}
	for name, c := range map[string]struct {
		before, want Config
		env          map[string]string
	}{
		"all":         {Config{}, all, env},
		"nothing":     {Config{}, Config{}, nil},
		"set already": {own, own, env},
		"some":        {Config{ID: ID{Job: "mine"}, Epoch: 8}, Config{ID: ID{Job: "mine", Server: "s1"}, Epoch: 8}, map[string]string{command.EnvServer: "s1", EnvEpoch: "9"}},
	} {
		got := c.before
		must.Do(t, got.FromEnvironment(func(name string) string { return c.env[name] }), name)
		must.Equal(t, cmp.Diff(c.want, got, cmp.AllowUnexported(Config{})), "", name)
	}
}

// A number that is none is a fault that names its variable and shows it; of several the same one is told each time.
func TestConfigFromOddEnvironment(t *testing.T) {
	for env, want := range map[[2]string]string{
		{command.EnvAttempt, "five"}:           `"five"`,
		{command.EnvAttempt, "1e3"}:            `"1e3"`,
		{EnvEpoch, "9223372036854775808"}:      `"9223372036854775808"`,
		{command.EnvRank, "2147483648"}:        `"2147483648"`,
		{command.EnvRank, "0x1"}:               `"0x1"`,
		{command.EnvRank, " 1"}:                `" 1"`,
		{EnvEpoch, "-9223372036854775808\x00"}: `-9223372036854775808\x00`,
	} {
		var c Config
		err := c.FromEnvironment(func(name string) string {
			if name == env[0] {
				return env[1]
			}
			return ""
		})
		var fault *apportion.FieldError
		if !errors.As(err, &fault) || fault.Field != env[0] || !errors.Is(err, apportion.ErrRange) || !strings.Contains(fault.Detail, want) {
			t.Errorf("%v: %v", env, err)
		}
	}
	for range 20 {
		var c Config
		var fault *apportion.FieldError
		if err := c.FromEnvironment(func(string) string { return "x" }); !errors.As(err, &fault) || fault.Field != command.EnvAttempt {
			t.Fatalf("%v", err)
		}
	}
}

// Every fault is told, by its field and in one order; those of the name come alone, since nothing else is of use without one.
func TestConfigValidate(t *testing.T) {
	right := func() Config {
		return Config{ID: ID{Job: "lr", Attempt: 1, Server: "s1"}, Authority: &HTTP{URL: "http://x"}, Argv: []string{"sh"}}
	}
	for name, c := range map[string]struct {
		change func(*Config)
		want   []string
	}{
		"right":       {func(*Config) {}, nil},
		"attempt":     {func(c *Config) { c.Attempt = 0 }, []string{"Attempt"}},
		"rank":        {func(c *Config) { c.Rank = -1 }, []string{"Rank"}},
		"server":      {func(c *Config) { c.Server = "" }, []string{"Server"}},
		"all of it":   {func(c *Config) { c.Attempt, c.Rank, c.Server = -1, -1, "" }, []string{"Attempt", "Rank", "Server"}},
		"authority":   {func(c *Config) { c.Authority = nil }, []string{"Authority"}},
		"no command":  {func(c *Config) { c.Argv = nil }, []string{"Argv"}},
		"no program":  {func(c *Config) { c.Argv = []string{"", "x"} }, []string{"Argv"}},
		"start":       {func(c *Config) { c.Start = -1 }, []string{"Start"}},
		"grace":       {func(c *Config) { c.Grace = -time.Hour }, []string{"Grace"}},
		"every":       {func(c *Config) { c.Every = -1 }, []string{"Every"}},
		"containment": {func(c *Config) { c.Containment = "all" }, []string{"Containment"}},
		"cgroup":      {func(c *Config) { c.Containment = ControlGroup }, nil},
		"freezer":     {func(c *Config) { c.Containment = Freezer }, nil},
		"many":        {func(c *Config) { *c = Config{ID: c.ID, Start: -1, Grace: -1, Every: -1} }, []string{"Argv", "Authority", "Every", "Grace", "Start"}},
		"name, other": {func(c *Config) { *c = Config{ID: ID{Job: "lr", Server: "s1"}, Start: -1} }, []string{"Attempt"}},
	} {
		for range 5 {
			config := right()
			c.change(&config)
			var faults apportion.Faults
			var fields []string
			if err := config.Validate(); errors.As(err, &faults) {
				for _, f := range faults {
					fields = append(fields, f.Field)
				}
			} else if err != nil {
				t.Fatalf("%s: %v is no list of faults", name, err)
			}
			must.Equal(t, cmp.Diff(c.want, fields), "", name)
		}
	}
	config := right()
	if config.Job = "a\nb"; config.Validate() == nil {
		t.Error("a job whose name is two lines")
	}
}

// A rank is a number from 0 or a sum of such, and never leaves the range of what the trainer is told.
func TestSetRank(t *testing.T) {
	for sum, want := range map[string]string{
		"0": "0", "7": "7", "4+2": "6", "1+2+3": "6", "0+0": "0", "2147483647": "2147483647", "2147483646+1": "2147483647", "": "",
		"2147483648": "!", "2147483647+1": "!", "-1": "!", "3+-1": "!", "+": "!", "1+": "!", "1 + 2": "!", "x": "!", "99999999999999999999": "!",
	} {
		own := map[string]string{}
		err := setRank(own, sum)
		if got := own[command.EnvRank]; (err != nil) != (want == "!") || err == nil && got != want || err != nil && len(own) > 0 {
			t.Errorf("%q: %q, %v, want %q", sum, got, err, want)
		}
	}
}

// The files of saves are both the environment's or both the guard's, in a folder that is nobody else's where none is given.
func TestSetFiles(t *testing.T) {
	temporary, given := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for name, c := range map[string]struct {
		request, ack, dir string
		within            string
	}{
		"both named":       {"/r", "/a", given, ""},
		"one named":        {"/r", "", given, given},
		"the other":        {"", "/a", given, given},
		"a folder":         {"", "", given, given},
		"no folder either": {"", "", "", temporary},
	} {
		t.Setenv(command.EnvSaveRequest, c.request)
		t.Setenv(command.EnvSaveAck, c.ack)
		own := map[string]string{}
		made := must.Have(setFiles(own, c.dir, nil))(t)
		must.Equal(t, made != "", c.within == temporary, name, "made")
		request, ack := own[command.EnvSaveRequest], own[command.EnvSaveAck]
		if c.within == "" {
			if len(own) > 0 {
				t.Errorf("%s: %v", name, own)
			}
			continue
		}
		if filepath.Dir(request) != filepath.Dir(ack) || request == ack || !strings.HasPrefix(request, c.within) {
			t.Errorf("%s: %q and %q", name, request, ack)
		}
		if info, err := os.Stat(filepath.Dir(request)); err != nil || c.dir == "" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	t.Setenv(command.EnvSaveRequest, "")
	t.Setenv(command.EnvSaveAck, "")
	t.Setenv("TMPDIR", filepath.Join(temporary, "nowhere"))
	must.Fail(setFiles(map[string]string{}, "", nil))(t, must.ErrAny, "a folder was made where there can be none")
}

// One road is chosen, by one flag; a program's own are named with the others.
func TestAuthority(t *testing.T) {
	opened := ""
	road := func(name string) Road {
		return Road{Name: name, Open: func(value string) (Authority, error) { opened = name + " " + value; return nil, nil }}
	}
	roads := []Road{road("a"), road("b"), road("c")}
	for _, c := range []struct{ a, b, c, want string }{
		{"x", "", "", "a x"}, {"", "", "y", "c y"}, {"", "", "", ""}, {"x", "y", "", ""}, {"x", "", "y", ""}, {"x", "y", "z", ""},
	} {
		opened = ""
		_, err := authority(roads, []*string{&c.a, &c.b, &c.c})
		if opened != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q was opened, %v", c, opened, err)
		}
		if err != nil && err.Error() != "either -a or -b or -c is needed" {
			t.Error(err)
		}
	}
}
