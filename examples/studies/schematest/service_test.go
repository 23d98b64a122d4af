// This file holds the description of the service to what the service takes and answers.

package schematest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// openAPI is what the test reads of a description.
type openAPI struct {
	Paths map[string]map[string]struct {
		Parameters  []struct{ Name, In string }
		RequestBody *struct{ Content described }
		Responses   map[string]struct{ Content described }
	}
}

type described map[string]struct {
	Schema struct {
		Ref string `json:"$ref"`
	}
}

// name is that of the file of a schema; empty: nothing is written there.
func (d described) name() string {
	return strings.TrimPrefix(d["application/json"].Schema.Ref, "schema/")
}

// TestService makes one right and one wrong request of everything that the description has, and finds all answers as described.
func TestService(t *testing.T) {
	ask := serve(t, build(t))
	_, text := ask("GET", "/v1/openapi.json", "")
	var api openAPI
	must.Do(t, json.Unmarshal([]byte(text), &api))
	problem := oneLine(fullDorm)
	_, _ = ask("PUT", "/v1/sessions/x", problem)
	_, record := ask("POST", "/v1/sessions/x", `{"show":"record"}`)
	right := map[string]string{"session.header.json": problem, "dorm.input.json": problem, "session.input.json": `{"changes":[]}`, "drf.input.json": oneLine(fullDRF), "record.json": record}
	operations := 0
	for path, methods := range api.Paths {
		// What ends a session comes last.
		for _, method := range []string{"get", "put", "post", "delete"} {
			o, there := methods[method]
			if !there {
				continue
			}
			operations++
			query := "?"
			for _, p := range o.Parameters {
				if p.In == "query" {
					query += p.Name + "=" + map[string]string{"effort": "20", "job": "a"}[p.Name] + "&"
				}
			}
			at, body := strings.Replace(path, "{name}", "x", 1)+query, ""
			if o.RequestBody != nil {
				name := o.RequestBody.Content.name()
				body = right[name]
				check(t, name, body)
			}
			status, answer := ask(strings.ToUpper(method), at, body)
			response, known := o.Responses[fmt.Sprint(status)]
			if !known {
				t.Errorf("%s %s: %d is not described: %s", method, path, status, answer)
				continue
			}
			if name := response.Content.name(); name != "" {
				check(t, name, answer)
			} else if answer != "" {
				t.Errorf("%s %s: %s is not described", method, path, answer)
			}
			if o.RequestBody != nil {
				if status, answer = ask(strings.ToUpper(method), at, `{"unknown":1}`); status < 400 {
					t.Errorf("%s %s takes anything: %s", method, path, answer)
				}
				check(t, o.Responses["default"].Content.name(), answer)
			}
		}
	}
	if operations < 9 {
		t.Errorf("only %d operations", operations)
	}
}

// serve starts the service, and returns a way to ask it.
func serve(t *testing.T, bin string) func(method, path, body string) (int, string) {
	folder := must.Have(os.MkdirTemp("", "serve"))(t) // the path of a socket must be short
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket := filepath.Join(folder, "s")
	cmd := exec.CommandContext(t.Context(), bin, "serve", "-listen", "unix:"+socket)
	out := must.Have(cmd.StdoutPipe())(t)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() }) // its context has ended
	must.Do(t, json.NewDecoder(out).Decode(&struct{ Listening string }{}), &errs)
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	return func(method, path, body string) (int, string) {
		request := must.Have(http.NewRequestWithContext(t.Context(), method, "http://service"+path, strings.NewReader(body)))(t)
		response := must.Have(client.Do(request))(t)
		defer response.Body.Close()
		text := must.Have(io.ReadAll(response.Body))(t)
		return response.StatusCode, string(text)
	}
}
