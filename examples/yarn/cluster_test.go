// This file runs a real YARN cluster on the loopback for the tests: a ResourceManager and NodeManagers, each a process.

package yarn

import (
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// jarsVariable holds the folder with the jars, which `make yarn` fetches; requireVariable says that it must be there.
const (
	jarsVariable    = "APPORTION_YARN"
	requireVariable = "APPORTION_REQUIRE_YARN"
)

// gpuKind is the resource type that the test's nodes have beside memory and virtual cores.
const gpuKind = "yarn.io/gpu"

// cluster is a YARN cluster whose daemons are processes.
type cluster struct {
	*processes.Group
	jars    string
	more    map[string]string // what yarn-site.xml has beside the usual
	port    int
	manager *manager
}

// rmName is the ResourceManager among the daemons; NodeManagers are called nm1, nm2 and so on.
const rmName = "rm"

// newCluster starts a cluster with so many nodes of 8 virtual cores, 8 GiB and 4 GPUs.
func newCluster(t testing.TB, nodes int) *cluster { return newClusterWith(t, nodes, nil) }

// newClusterWith starts one whose daemons are told more.
func newClusterWith(t testing.TB, nodes int, more map[string]string) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("real jobs on a real cluster take a minute")
	}
	jars := os.Getenv(jarsVariable)
	if jars == "" {
		must.Equal(t, os.Getenv(requireVariable), "", jarsVariable, "is not set: make yarn fetches the jars")
		t.Skipf("%s is not set: make yarn fetches the jars", jarsVariable)
	}
	c := &cluster{Group: processes.New(t, "yarn"), jars: jars, more: more}
	c.compile()
	c.port = processes.FreePorts(t, 5+4*nodes)
	c.manager = newManager([]string{fmt.Sprintf("http://127.0.0.1:%d", c.port+4)})
	c.manager.user = "root"
	c.configure(rmName, 0)
	for i := range nodes {
		c.configure(nmName(i), i)
	}
	for name := range c.configured() {
		c.nameHosts(name, nodes)
		c.start(name)
	}
	c.ready(nodes)
	return c
}

func nmName(i int) string { return "nm" + strconv.Itoa(i+1) }

// nodeID is how YARN calls the node of a NodeManager. All are on one address, and have names that only this cluster knows.
func (c *cluster) nodeID(i int) string { return nmName(i) + ":" + strconv.Itoa(c.nodePort(i)) }

func (c *cluster) nodePort(i int) int { return c.port + 5 + 4*i }

// nameHosts writes the names that a daemon knows, in place of those of the machine. A NodeManager calls itself by the first
// name of its address.
func (c *cluster) nameHosts(daemon string, nodes int) {
	c.Helper()
	own, err := os.Hostname()
	names := []string{daemon, "localhost", own}
	for i := range nodes {
		names = append(names, nmName(i))
	}
	if err != nil {
		c.Fatal(err)
	}
	c.Write(filepath.Join("conf-"+daemon, "hosts"), "127.0.0.1 "+strings.Join(names, "\n127.0.0.1 ")+"\n", 0o644)
}

// configured are the daemons that have a configuration.
func (c *cluster) configured() map[string]bool {
	names := map[string]bool{}
	folders, _ := filepath.Glob(filepath.Join(c.Dir, "conf-*"))
	for _, folder := range folders {
		names[strings.TrimPrefix(filepath.Base(folder), "conf-")] = true
	}
	return names
}

// nodes lists the nodes; none while nobody answers.
func (c *cluster) nodes() []node {
	list, _ := c.manager.nodes(context.Background())
	return list
}

// ready waits until so many nodes run.
func (c *cluster) ready(n int) {
	c.Helper()
	processes.Eventually(c, "all nodes run", 180*time.Second, func() bool { return c.running() == n })
}

// running returns how many nodes run.
func (c *cluster) running() int {
	running := 0
	for _, one := range c.nodes() {
		if one.State == "RUNNING" {
			running++
		}
	}
	return running
}

// compile compiles the holder, and what runs jobs of fixed sizes beside it.
func (c *cluster) compile() {
	c.Helper()
	c.javac("17", "editor/CapacityEditor.java")
	sources, err := filepath.Glob("holder/src/main/java/com/github/apportion/yarn/*.java")
	if err != nil || len(sources) == 0 {
		c.Fatalf("%v: no sources", err)
	}
	example := must.Have(filepath.Glob("holder/src/main/java/com/github/apportion/yarn/example/*.java"))(c)
	sources = append(append(sources, example...), "holder/src/test/java/com/github/apportion/yarn/Gangs.java")
	c.javac("11", sources...)
}

// javac compiles sources for a release of Java.
func (c *cluster) javac(release string, sources ...string) {
	c.Helper()
	args := append([]string{"--release", release, "-proc:none", "-Xlint:all,-classfile,-path", "-Werror", "-d", filepath.Join(c.Dir, "classes"),
		"-cp", filepath.Join(c.jars, "*")}, sources...)
	if out, err := exec.Command("javac", args...).CombinedOutput(); err != nil {
		c.Fatalf("%v: %s", err, out)
	}
}

// java is the command of a virtual machine that is small and starts soon.
func (c *cluster) java(name, class string) []string {
	return []string{"java", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m", "-Xss512k",
		"-Djava.net.preferIPv4Stack=true", "-Djdk.net.hosts.file=" + filepath.Join(c.Dir, "conf-"+name, "hosts"), "-Djava.io.tmpdir=" + filepath.Join(c.Dir, "tmp"),
		"-cp", filepath.Join(c.Dir, "conf-"+name) + ":" + filepath.Join(c.Dir, "classes") + ":" + filepath.Join(c.jars, "*"), class}
}

// holder is the command of the holder, for the shell.
func (c *cluster) holder() string {
	return managed.Quote(c.java(rmName, "com.github.apportion.yarn.Holder")...)
}

// write writes a configuration of Hadoop's.
func (c *cluster) write(folder, name string, values map[string]string) {
	c.Helper()
	type property struct {
		Name  string `xml:"name"`
		Value string `xml:"value"`
	}
	file := struct {
		XMLName  xml.Name   `xml:"configuration"`
		Property []property `xml:"property"`
	}{}
	for key, value := range values {
		file.Property = append(file.Property, property{key, value})
	}
	text := must.Have(xml.Marshal(file))(c)
	c.Write(filepath.Join(folder, name), string(text), 0o644)
}

// configure writes the configuration of a daemon. Everything listens on the loopback only.
func (c *cluster) configure(name string, i int) {
	c.Helper()
	folder := "conf-" + name
	must.Do(c, os.MkdirAll(filepath.Join(c.Dir, "tmp"), 0o777))
	at := func(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
	site := map[string]string{
		"yarn.resourcemanager.hostname":                                    "127.0.0.1",
		"yarn.resourcemanager.address":                                     at(c.port),
		"yarn.resourcemanager.scheduler.address":                           at(c.port + 1),
		"yarn.resourcemanager.resource-tracker.address":                    at(c.port + 2),
		"yarn.resourcemanager.admin.address":                               at(c.port + 3),
		"yarn.resourcemanager.webapp.address":                              at(c.port + 4),
		"yarn.resourcemanager.bind-host":                                   "127.0.0.1",
		"yarn.resourcemanager.nodes.exclude-path":                          filepath.Join(c.Dir, "excluded"),
		"yarn.resourcemanager.recovery.enabled":                            "true",
		"yarn.resourcemanager.store.class":                                 "org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore",
		"yarn.resourcemanager.fs.state-store.uri":                          "file://" + filepath.Join(c.Dir, "state"),
		"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms":          "100",
		"yarn.resourcemanager.connect.retry-interval.ms":                   "1000",
		"yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms": "1000",
		"yarn.nm.liveness-monitor.expiry-interval-ms":                      "10000",
		"yarn.scheduler.configuration.store.class":                         "memory",
		"yarn.node-labels.enabled":                                         "true",
		"yarn.node-labels.fs-store.root-dir":                               "file://" + filepath.Join(c.Dir, "labels"),
		"yarn.scheduler.minimum-allocation-mb":                             "128",
		"yarn.acl.enable":                                                  "true",
		"yarn.admin.acl":                                                   "root",
		"hadoop.http.staticuser.user":                                      "root",
		"yarn.nodemanager.address":                                         c.nodeID(i),
		"yarn.nodemanager.localizer.address":                               at(c.nodePort(i) + 1),
		"yarn.nodemanager.webapp.address":                                  at(c.nodePort(i) + 2),
		"yarn.nodemanager.collector-service.address":                       at(c.nodePort(i) + 3),
		"yarn.nodemanager.bind-host":                                       "127.0.0.1",
		"yarn.nodemanager.local-dirs":                                      filepath.Join(c.Dir, name, "local"),
		"yarn.nodemanager.log-dirs":                                        filepath.Join(c.Dir, name, "logs"),
		"yarn.nodemanager.resource.memory-mb":                              "8192",
		"yarn.nodemanager.resource.cpu-vcores":                             "8",
		"yarn.nodemanager.pmem-check-enabled":                              "false",
		"yarn.nodemanager.vmem-check-enabled":                              "false",
		"yarn.client.nodemanager-connect.max-wait-ms":                      "10000",
		"yarn.client.nodemanager-connect.retry-interval-ms":                "1000",
		// A disk that is nearly full, as those of test machines are, would end every container without a word.
		"yarn.nodemanager.disk-health-checker.enable":                                   "false",
		"yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "100",
		"yarn.nodemanager.disk-health-checker.min-free-space-per-disk-mb":               "0",
	}
	maps.Copy(site, c.more)
	// The first node keeps its containers in mind while its NodeManager is started again; the others do not.
	if name == nmName(0) {
		site["yarn.nodemanager.recovery.enabled"] = "true"
		site["yarn.nodemanager.recovery.supervised"] = "true"
		site["yarn.nodemanager.recovery.dir"] = filepath.Join(c.Dir, name, "recovery")
	}
	c.write(folder, "yarn-site.xml", site)
	c.write(folder, "core-site.xml", map[string]string{"fs.defaultFS": "file:///", "hadoop.tmp.dir": filepath.Join(c.Dir, "tmp")})
	c.write(folder, "resource-types.xml", map[string]string{"yarn.resource-types": gpuKind})
	c.write(folder, "node-resources.xml", map[string]string{"yarn.nodemanager.resource-type." + gpuKind: "4"})
	c.configureQueues(folder)
	log := "log4j.rootLogger=INFO,A\nlog4j.appender.A=org.apache.log4j.ConsoleAppender\nlog4j.appender.A.layout=org.apache.log4j.PatternLayout\n" +
		"log4j.appender.A.layout.ConversionPattern=%d{ISO8601} %p %c{1} %m%n\n"
	c.Write(filepath.Join(folder, "log4j.properties"), log, 0o644)
	c.Write("excluded", "", 0o644)
}

// configureQueues writes the queues: a and b are for everybody, small too, which may have a quarter at most, and closed is for
// root alone. The partition fast, when there is one, is queue a's.
func (c *cluster) configureQueues(folder string) {
	c.Helper()
	scheduler := map[string]string{}
	maps.Copy(scheduler, map[string]string{"root.queues": "a,b,closed,small", "maximum-am-resource-percent": "1.0", "node-locality-delay": "-1",
		"resource-calculator":          "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
		"root.acl_submit_applications": " ", "root.acl_administer_queue": "root",
		"root.accessible-node-labels.fast.capacity": "100", "root.a.accessible-node-labels.fast.capacity": "100"})
	for queue, capacity := range map[string]string{"a": "50", "b": "40", "closed": "5", "small": "5"} {
		scheduler["root."+queue+".capacity"] = capacity
		scheduler["root."+queue+".maximum-capacity"] = "100"
		scheduler["root."+queue+".user-limit-factor"] = "10"
		scheduler["root."+queue+".acl_submit_applications"] = "*"
	}
	scheduler["root.closed.acl_submit_applications"] = "root"
	scheduler["root.small.maximum-capacity"] = "25"
	prefixed := map[string]string{}
	for key, value := range scheduler {
		prefixed["yarn.scheduler.capacity."+key] = value
	}
	c.write(folder, "capacity-scheduler.xml", prefixed)
}

// start starts a daemon.
func (c *cluster) start(name string) {
	c.Helper()
	class := "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
	if name == rmName {
		class = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
	}
	argv := c.java(name, class)
	c.Start(name, argv[0], argv[1:]...)
}
