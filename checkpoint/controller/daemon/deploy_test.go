// This file tests the unit by which systemd runs a program: it starts what there is, and with few rights.

package daemon

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// unit is the file that is shipped.
const unit = "deploy/apportion@.service"

func TestUnit(t *testing.T) {
	text := must.Have(os.ReadFile(unit))(t)
	lines := strings.Split(string(text), "\n")
	for _, want := range []string{"User=apportion", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict", "ReadWritePaths=/mnt/shared", "Restart=always", "SystemCallFilter=@system-service"} {
		if !slices.Contains(lines, want) {
			t.Errorf("the unit does not say %s", want)
		}
	}
	p, _ := on(nil)
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "ExecStart=") })
	command := strings.NewReplacer("/etc/apportion/%i.json", inFile(t, `{"shared": "/mnt/shared"}`), "%i", "test").Replace(strings.TrimPrefix(lines[max(i, 0)], "ExecStart="))
	words := strings.Fields(command)
	if s, err := p.parse(words[1:], io.Discard); err != nil || words[0] != "/usr/local/bin/apportion-test" || s.private != "/var/lib/apportion/test" || !slices.Contains(lines, "StateDirectory=apportion/%i") {
		t.Errorf("%s: %+v, %v", command, s, err)
	}
}

// systemd understands the unit, every line of it, and by its own measure the unit is exposed to little: 25 of 100, where one that says
// nothing has 96.
func TestSystemd(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip(err)
	}
	text := must.Have(os.ReadFile(unit))(t)
	program, err := os.Executable() // the program is to be there
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "apportion@slurm.service")
	must.Do(t, os.WriteFile(name, []byte(strings.Replace(string(text), "/usr/local/bin/apportion-%i", program, 1)), 0o600))
	for _, args := range [][]string{{"verify", "--recursive-errors=no", "--man=no"}, {"security", "--offline=true", "--no-pager", "--threshold=25"}} {
		out, err := exec.Command("systemd-analyze", append(args, name)...).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", args[0], err, out)
		}
		if i := strings.Index(string(out), "Overall exposure"); i >= 0 {
			t.Log(string(out[i:]))
		}
	}
}
