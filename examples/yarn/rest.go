//go:build unix

// This file asks the ResourceManager's web services.

package yarn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/apportion/apportion"
)

// manager is a ResourceManager, or several of which one is active.
type manager struct {
	addresses []string
	client    http.Client
	// user is whom requests that change something come from, as simple authentication believes.
	user string
}

// newManager returns one that has asked nothing yet. Addresses are tried in their order.
// The limit of 20 s is that of one request to one address, after which the next is asked.
func newManager(addresses []string) *manager {
	m := &manager{addresses: addresses, client: http.Client{Timeout: 20 * time.Second}, user: "root"}
	// A user whom the system has no name for asks as root.
	if me, err := user.Current(); err == nil {
		m.user = me.Username
	}
	return m
}

// errAbsent says that the ResourceManager does not know what was asked for.
var errAbsent = errors.New("the ResourceManager does not know it")

// get reads an answer of the ResourceManager that is active.
func (m *manager) get(ctx context.Context, path string, into any) error {
	text, err := m.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// do sends a request to one after the other until one answers it.
// Of several ResourceManagers one that stands by sends on to the active one, see send, or answers with an error,
// and then the next is asked. An answer that something is absent is an answer.
// A request that was carried out and not answered may so be carried out twice, which is all the same: each says what shall be.
func (m *manager) do(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	var faults error
	for _, address := range m.addresses {
		request, err := http.NewRequestWithContext(ctx, method, address+path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header.Set("Accept", "application/json")
		if body != nil {
			request.Header.Set("Content-Type", "application/xml")
		}
		text, err := m.send(request)
		if err == nil || errors.Is(err, errAbsent) {
			return text, err
		}
		// The faults of all addresses are told: which of these was to be the active one nobody knows.
		faults = errors.Join(faults, fmt.Errorf("%s %s: %w", method, path, err))
	}
	return nil, faults
}

// send sends a request and reads the whole answer. The client follows the redirect of a ResourceManager that stands by to
// the active one; a redirect to nowhere is a fault as any other.
func (m *manager) send(request *http.Request) ([]byte, error) {
	response, err := m.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode == http.StatusNotFound:
		return nil, errAbsent
	// The text of the answer says more than its number.
	case response.StatusCode >= http.StatusMultipleChoices:
		return nil, fmt.Errorf("%s: %.300s", response.Status, text)
	}
	return text, nil
}

// list is a list of which YARN writes a single element without brackets, and none as null or not at all.
type list[T any] []T

// null and an object are told apart by decoding into a pointer.
func (l *list[T]) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return json.Unmarshal(text, (*[]T)(l))
	}
	var one *T
	if err := json.Unmarshal(text, &one); err != nil || one == nil {
		return err
	}
	*l = list[T]{*one}
	return nil
}

// quantity is a number that YARN writes with quotes in some places.
type quantity int64

// UnmarshalJSON reads a whole number, with quotes or without.
func (q *quantity) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(text), `"`), 10, 64)
	*q = quantity(n)
	return err
}

// amounts are quantities of resources by name, in the two forms that YARN has for them.
type amounts struct {
	ResourceInformations struct {
		ResourceInformation list[struct {
			Name  string   `json:"name"`
			Value quantity `json:"value"`
		}] `json:"resourceInformation"`
	} `json:"resourceInformations"`
	Entry list[struct {
		Key   string   `json:"key"`
		Value quantity `json:"value"`
	}] `json:"entry"`
}

// vector is the amounts of the kinds.
func (a *amounts) vector(kinds apportion.Kinds) apportion.Resources {
	v := make(apportion.Resources, len(kinds))
	for k, kind := range kinds {
		for _, one := range a.ResourceInformations.ResourceInformation {
			if one.Name == kind {
				v[k] = int64(one.Value)
			}
		}
		for _, one := range a.Entry {
			if one.Key == kind {
				v[k] = int64(one.Value)
			}
		}
	}
	return v
}

// node is a NodeManager as the ResourceManager sees it.
type node struct {
	ID     string       `json:"id"`
	Host   string       `json:"nodeHostName"`
	Rack   string       `json:"rack"`
	State  string       `json:"state"`
	Health string       `json:"healthReport"`
	Labels list[string] `json:"nodeLabels"`
	Total  amounts      `json:"totalResource"`
	Used   amounts      `json:"usedResource"`
}

// nodes lists all NodeManagers, also those that are gone.
// YARN lists the states that are asked for, and without any only those that are alive.
func (m *manager) nodes(ctx context.Context) ([]node, error) {
	var answer struct {
		Nodes struct {
			Node list[node] `json:"node"`
		} `json:"nodes"`
	}
	err := m.get(ctx, "/ws/v1/cluster/nodes?states=new,running,unhealthy,decommissioning,decommissioned,lost,rebooted,shutdown", &answer)
	return answer.Nodes.Node, err
}

// application is an application of YARN's.
type application struct {
	ID          string `json:"id"`
	User        string `json:"user"`
	Name        string `json:"name"`
	Queue       string `json:"queue"`
	State       string `json:"state"`
	Tags        string `json:"applicationTags"`
	Diagnostics string `json:"diagnostics"`

	// follows says that its master is one of its user's own, which follows decisions.
	follows bool
}

// isOver reports whether an application has ended.
// An application that is being killed is not over: its containers may live.
func (a *application) isOver() bool {
	return a.State == "FINISHED" || a.State == "FAILED" || a.State == "KILLED"
}

// applications lists the applications of elastic jobs, whoever's, in the order of submission.
func (m *manager) applications(ctx context.Context) ([]application, error) {
	var answer struct {
		Apps struct {
			App list[application] `json:"app"`
		} `json:"apps"`
	}
	err := m.get(ctx, "/ws/v1/cluster/apps?applicationTypes="+applicationType, &answer)
	return answer.Apps.App, err
}

// container is a container that lives by the ResourceManager's word.
type container struct {
	ID        string   `json:"containerId"`
	Node      string   `json:"assignedNodeId"`
	Priority  quantity `json:"priority"`
	Allocated amounts  `json:"allocatedResources"`
}

// runPriority is the priority of containers of runs. Others of their applications, such as those of masters, have another.
const runPriority = 1

// containers lists the containers of an application, which belong to its newest attempt.
// Attempts are numbered with leading zeros, so that the largest text is the newest.
func (m *manager) containers(ctx context.Context, id string) ([]container, error) {
	path := "/ws/v1/cluster/apps/" + id + "/appattempts"
	var attempts struct {
		AppAttempts struct {
			AppAttempt list[struct {
				ID string `json:"appAttemptId"`
			}] `json:"appAttempt"`
		} `json:"appAttempts"`
	}
	newest := ""
	err := m.get(ctx, path, &attempts)
	for _, one := range attempts.AppAttempts.AppAttempt {
		newest = max(newest, one.ID)
	}
	var answer struct {
		Container list[container] `json:"container"`
	}
	if err == nil && newest != "" {
		err = m.get(ctx, path+"/"+newest+"/containers", &answer)
	}
	if errors.Is(err, errAbsent) {
		return nil, nil // it has ended meanwhile
	}
	return answer.Container, err
}

// applicationType is the type of the applications of elastic jobs.
const applicationType = "APPORTION"
