//go:build !js && !apportion_clib

// This file describes the service as OpenAPI 3.1, from the list of routes and the schemas.

package main

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"
)

// parameter matches a name in a path.
var parameter = regexp.MustCompile(`\{(\w+)\}`)

// describe writes the description. Schemas are named by addresses next to it.
func (s *service) describe(w http.ResponseWriter, _ *http.Request) error {
	paths := make(map[string]map[string]any)
	for _, r := range routes {
		if paths[r.path] == nil {
			paths[r.path] = make(map[string]any)
		}
		paths[r.path][strings.ToLower(r.method)] = r.operation()
	}
	return reply(w, http.StatusOK, map[string]any{
		"openapi": "3.1.0",
		"info":    map[string]string{"title": "apportion serve", "version": "1", "description": "Decisions of a cluster, by sessions."},
		"paths":   paths,
		"components": map[string]any{"securitySchemes": map[string]any{
			"token": map[string]string{"type": "http", "scheme": "bearer", "description": "What the file of -token has; on a Unix socket none is needed."},
		}},
		"security": []map[string][]string{{"token": {}}, {}},
	})
}

func (r *route) operation() map[string]any {
	parameters := []map[string]any{}
	for _, name := range parameter.FindAllStringSubmatch(r.path, -1) {
		parameters = append(parameters, map[string]any{"name": name[1], "in": "path", "required": true, "schema": map[string]string{"type": "string"}})
	}
	for _, name := range r.parameters {
		parameters = append(parameters, map[string]any{"name": name, "in": "query", "schema": map[string]string{"type": map[string]string{"effort": "integer", "job": "string"}[name]}})
	}
	success, status := map[string]any{"description": "An answer."}, map[string]string{"PUT": "201", "DELETE": "204"}[r.method]
	status = cmp.Or(status, "200")
	if r.output != "" {
		success["content"] = content(r.output)
	}
	operation := map[string]any{"summary": r.summary, "parameters": parameters, "responses": map[string]any{
		status: success, "default": map[string]any{"description": "What went wrong.", "content": content("error")},
	}}
	if r.input != "" {
		operation["requestBody"] = map[string]any{"required": true, "content": content(r.input)}
	}
	return operation
}

func content(schema string) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": map[string]string{"$ref": "schema/" + schema + ".json"}}}
}
