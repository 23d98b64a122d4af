// This file tests what is read of Hadoop's configuration.

package yarn

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// confOf reads a configuration of properties.
func confOf(t *testing.T, properties string) (conf, error) {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "yarn-site.xml"), []byte("<?xml version=\"1.0\"?>\n<configuration>"+properties+"</configuration>"), 0o600))
	return readConf(dir)
}

func TestConf(t *testing.T) {
	property := func(name, value string) string {
		return "<property><name>" + name + "</name>\n<value> " + value + "\n</value><final>true</final></property>"
	}
	for name, test := range map[string]struct {
		properties       string
		addresses, kinds []string
	}{
		"nothing": {"", []string{"http://127.0.0.1:8088"}, []string{"memory-mb", "vcores"}},
		"a host":  {property("yarn.resourcemanager.hostname", "rm"), []string{"http://rm:8088"}, []string{"memory-mb", "vcores"}},
		"an address": {property("yarn.resourcemanager.hostname", "rm") + property("yarn.resourcemanager.webapp.address", "web:1"),
			[]string{"http://web:1"}, []string{"memory-mb", "vcores"}},
		"two of which one is active": {property("yarn.resourcemanager.ha.rm-ids", "r1, r2") + property("yarn.resourcemanager.hostname.r1", "one") +
			property("yarn.resourcemanager.webapp.address.r2", "two:90"), []string{"http://one:8088", "http://two:90"}, []string{"memory-mb", "vcores"}},
		"types": {property("yarn.resource-types", "yarn.io/gpu, memory-mb,licence"), []string{"http://127.0.0.1:8088"},
			[]string{"memory-mb", "vcores", "yarn.io/gpu", "licence"}},
	} {
		c, err := confOf(t, test.properties)
		if err != nil || !slices.Equal(c.addresses(), test.addresses) || !slices.Equal(c.kinds(), test.kinds) {
			t.Errorf("%s: %q, %q, %v", name, c.addresses(), c.kinds(), err)
		}
	}
	must.Fail(confOf(t, "<property>"))(t, must.ErrAny, "half a configuration is read")
	if c, err := readConf(t.TempDir()); err != nil || len(c) != 0 {
		t.Errorf("%v, %v", c, err)
	}
}
