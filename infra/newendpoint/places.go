package main

import (
	"slices"
	"strings"
)

const (
	stackFile    = "template.yaml"
	apiFile      = "docs/openapi.yaml"
	functionFile = "infra/test/e2e/function_test.go"
	policyFile   = "infra/test/policy/repository_test.go"
	callsFile    = "infra/capacity/journey/calls.csv"
)

// template adds the function to template.yaml, including its role, log group, path and monitoring.
func (w *writer) template() {
	if strings.Contains(w.read(stackFile), "\n          "+w.endpoint.Path+":") {
		w.failf("%s in %s: %w", w.endpoint.Path, stackFile, errTaken)
	}
	w.before(stackFile, "      GatewayResponses:\n", w.part("path.yaml.tmpl"))
	w.before(stackFile, "  # --- Who invokes functions ---", w.part("function.yaml.tmpl"))
	w.before(stackFile, `                  - !If [WithSandbox, !Sub "${SandboxEhrFunction.Arn}:live"`,
		`                  - !Sub "${`+w.endpoint.Logical+`Function.Arn}:live"`+"\n")
	w.watch()
}

// documents adds the endpoint to the OpenAPI description and the changelog. The make endpoint command regenerates
// docs/develop/functions.md in a separate step.
func (w *writer) documents() {
	w.before(apiFile, "  /bridge/org_connection/{orgConnectionId}:\n", w.part("openapi.yaml.tmpl"))
	w.changelog()
}

// changelog adds a line under the API heading of the unreleased additions, creating any missing headings.
func (w *writer) changelog() {
	const (
		file    = "CHANGELOG.md"
		section = "## [Unreleased]\n\n"
		list    = "### Added\n\n"
		area    = "#### API\n\n"
	)
	line := w.part("changelog.md.tmpl")
	switch text := w.read(file); {
	case strings.Contains(text, section+list+area):
		w.after(file, section+list+area, line)
	case strings.Contains(text, section+list):
		w.after(file, section+list, area+line+"\n")
	default:
		w.after(file, section, list+area+line+"\n")
	}
}

// tests adds the function to the tests that start every function or list the functions' permissions.
func (w *writer) tests() {
	name := w.endpoint.Folder
	w.before(functionFile, "\tgetconnectionwiring ", "\t"+name+`wiring "recordbridge/functions/`+name+`/wiring"`+"\n")
	w.before(functionFile, "\t\t\"getconnection\": ", "\t\t\""+name+`": answering(`+name+"wiring.Build),\n")
	const users = "\t\t\"KeyHashingSecret\": {\n"
	if strings.Contains(w.read(policyFile), users) { // true only while the list is written by hand
		w.after(policyFile, users, "\t\t\t\""+w.endpoint.Logical+"Function\",\n")
	}
	w.coldStart()
}

// coldStart adds a row to the cost table for the secret that a new process reads. The rows for cold starts are in
// alphabetical order.
func (w *writer) coldStart() {
	lines := strings.SplitAfter(w.read(callsFile), "\n")
	row := "cold start," + w.endpoint.Folder + ",secretsmanager,GetSecretValue,,1,0,0,0,0\n"
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "cold start,") && line > row })
	if i < 0 {
		w.failf("%s: there is no cold start after %s", callsFile, w.endpoint.Folder)
		return
	}
	w.put(callsFile, strings.Join(slices.Insert(lines, i, row), ""))
}
