//go:build unix

// This file reads Hadoop's configuration: where the ResourceManager answers, and what kinds of resources there are.

package yarn

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apportion/apportion"
)

// conf is a configuration: values by name.
// Values stand in it as they are written; what Hadoop itself takes where a name is absent is not among them.
type conf map[string]string

// readConf reads the configuration in a folder; an empty one where there is none.
// A later file overrides an earlier one. Variables inside of values are not resolved.
func readConf(folder string) (conf, error) {
	c := conf{}
	if folder == "" {
		return c, nil
	}
	for _, name := range []string{"core-site.xml", "yarn-site.xml", "resource-types.xml"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var file struct {
			Property []struct {
				Name  string `xml:"name"`
				Value string `xml:"value"`
			} `xml:"property"`
		}
		// One that is there and cannot be read is an error: to go on without it could mean another cluster.
		if err == nil {
			err = xml.Unmarshal(text, &file)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, p := range file.Property {
			c[p.Name] = strings.TrimSpace(p.Value)
		}
	}
	return c, nil
}

// list reads a value with commas.
func (c conf) list(name string) []string {
	var list []string
	for word := range strings.SplitSeq(c[name], ",") {
		if word = strings.TrimSpace(word); word != "" {
			list = append(list, word)
		}
	}
	return list
}

// The names under which YARN has the two kinds that every cluster has.
const (
	memoryKind = "memory-mb"
	vcoreKind  = "vcores"
)

// kinds are the kinds of resources: memory in MiB, virtual cores, and those of the cluster's own, such as yarn.io/gpu.
func (c conf) kinds() apportion.Kinds {
	kinds := apportion.Kinds{memoryKind, vcoreKind}
	for _, name := range c.list("yarn.resource-types") {
		if !slices.Contains(kinds, name) {
			kinds = append(kinds, name)
		}
	}
	return kinds
}

// runsAs is whom the nodes start the containers of a user's job as, by what Hadoop takes where nothing is said; "": as whom the
// NodeManagers themselves run, which must be this program's user then.
func (c conf) runsAs(owner string) string {
	const executor = "yarn.nodemanager.linux-container-executor.nonsecure-mode."
	switch {
	case !strings.HasSuffix(c["yarn.nodemanager.container-executor.class"], ".LinuxContainerExecutor"):
		return ""
	case c["hadoop.security.authentication"] == "kerberos" || c[executor+"limit-users"] == "false":
		return owner
	}
	return cmp.Or(c[executor+"local-user"], "nobody")
}

// addresses are where the web services of the ResourceManagers are: one, or several of which one is active.
// Only http is spoken. Without any setting it is the address of a cluster on this machine.
func (c conf) addresses() []string {
	const address, host = "yarn.resourcemanager.webapp.address", "yarn.resourcemanager.hostname"
	endings := []string{""}
	if ids := c.list("yarn.resourcemanager.ha.rm-ids"); len(ids) > 0 {
		endings = nil
		for _, id := range ids {
			endings = append(endings, "."+id)
		}
	}
	var list []string
	// The endings are those of names such as yarn.resourcemanager.webapp.address.rm1.
	for _, ending := range endings {
		// As Hadoop has it: the address in full, or the host at the port that all have, or this machine.
		switch {
		case c[address+ending] != "":
			list = append(list, "http://"+c[address+ending])
		case c[host+ending] != "":
			list = append(list, "http://"+c[host+ending]+":8088")
		default:
			list = append(list, "http://127.0.0.1:8088")
		}
	}
	return list
}
