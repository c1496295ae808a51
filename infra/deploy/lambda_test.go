package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const functionsPath = "/2015-03-31/functions/"

// lambda simulates the operations of Lambda's control plane that concern versions and aliases, with pages of two items.
type lambda struct {
	functions map[string]*function // by physical name, which is "stack-" and the logical ID
	failing   string               // method and path of a call that fails, such as "PUT stack-A/aliases/live"
	throttled string               // method and path of a call whose first attempt is throttled
}

type function struct {
	releases map[int]string // releases by version number; "" has no name
	modified map[int]string
	live     int
	canary   int // version to which the alias sends some requests; 0 for none
	last     int
}

// ServeHTTP implements http.Handler.
func (l *lambda) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, functionsPath)
	name, rest, _ := strings.Cut(path, "/")
	f := l.functions[name]
	call := r.Method + " " + path
	switch {
	case call == l.failing:
		reply(w, http.StatusForbidden, map[string]any{"Message": "not authorised"})
	case call == l.throttled:
		l.throttled = ""
		reply(w, http.StatusTooManyRequests, map[string]any{"Type": "User", "message": "Rate exceeded"})
	case f == nil:
		reply(w, http.StatusNotFound, map[string]any{"Message": "no function " + name})
	case r.Method == http.MethodGet && rest == "versions":
		f.listVersions(w, r)
	case r.Method == http.MethodGet && rest == "aliases":
		reply(w, http.StatusOK, map[string]any{"Aliases": []any{f.alias()}})
	case r.Method == http.MethodPut && rest == "aliases/live":
		f.move(w, r)
	case r.Method == http.MethodDelete && rest == "":
		f.remove(w, r)
	default:
		reply(w, http.StatusBadRequest, map[string]any{"Message": "unknown call " + call})
	}
}

// publish adds a version of each function. at is the time in minutes.
func (l *lambda) publish(release string, at int, functions ...string) {
	for _, name := range functions {
		f := l.functions["stack-"+name]
		if f == nil {
			f = &function{releases: map[int]string{}, modified: map[int]string{}}
			l.functions["stack-"+name] = f
		}
		f.last++
		f.releases[f.last], f.modified[f.last] = release, fmt.Sprintf("2026-11-29T10:%02d:00.000+0000", at)
		f.live = f.last
	}
}

// state describes every function: its live version and its versions, such as "A: 2 of [1 2]".
func (l *lambda) state() string {
	all := make([]string, 0, len(l.functions))
	for _, name := range slices.Sorted(maps.Keys(l.functions)) {
		f := l.functions[name]
		all = append(all, fmt.Sprintf("%s: %d of %v", strings.TrimPrefix(name, "stack-"), f.live,
			slices.Sorted(maps.Keys(f.releases))))
	}
	return strings.Join(all, ", ")
}

// listResources simulates CloudFormation's ListStackResources with one resource per page.
func (l *lambda) listResources(w io.Writer, r *http.Request) {
	names := slices.Sorted(maps.Keys(l.functions))
	at, _ := strconv.Atoi(r.FormValue("NextToken"))
	_, _ = io.WriteString(w, `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries><member>`+
		`<LogicalResourceId>Table</LogicalResourceId><PhysicalResourceId>stack-Table</PhysicalResourceId>`+
		`<ResourceType>AWS::DynamoDB::Table</ResourceType></member>`)
	if at < len(names) {
		_, _ = fmt.Fprintf(w, `<member><LogicalResourceId>%s</LogicalResourceId><PhysicalResourceId>%s</PhysicalResourceId>`+
			`<ResourceType>AWS::Lambda::Function</ResourceType></member>`, strings.TrimPrefix(names[at], "stack-"), names[at])
	}
	_, _ = io.WriteString(w, `</StackResourceSummaries>`)
	if at+1 < len(names) {
		_, _ = fmt.Fprintf(w, `<NextToken>%d</NextToken>`, at+1)
	}
	_, _ = io.WriteString(w, `</ListStackResourcesResult></ListStackResourcesResponse>`)
}

func reply(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func (f *function) alias() map[string]any {
	alias := map[string]any{"Name": "live", "FunctionVersion": strconv.Itoa(f.live)}
	if f.canary > 0 {
		alias["RoutingConfig"] = map[string]any{"AdditionalVersionWeights": map[string]float64{
			strconv.Itoa(f.canary): 0.1,
		}}
	}
	return alias
}

func (f *function) listVersions(w http.ResponseWriter, r *http.Request) {
	all := make([]any, 0, len(f.releases)+1)
	all = append(all, map[string]any{"Version": "$LATEST", "LastModified": "2026-11-29T11:00:00.000+0000"})
	for _, number := range slices.Sorted(maps.Keys(f.releases)) {
		variables := map[string]string{"SERVICE": "stack"}
		if f.releases[number] != "" {
			variables["RELEASE"] = f.releases[number]
		}
		all = append(all, map[string]any{
			"Version": strconv.Itoa(number), "LastModified": f.modified[number],
			"Environment": map[string]any{"Variables": variables},
		})
	}
	at, _ := strconv.Atoi(r.FormValue("Marker"))
	page := map[string]any{"Versions": all[at:min(at+2, len(all))]}
	if at+2 < len(all) {
		page["NextMarker"] = strconv.Itoa(at + 2)
	}
	reply(w, http.StatusOK, page)
}

func (f *function) move(w http.ResponseWriter, r *http.Request) {
	var to struct {
		FunctionVersion string
		RoutingConfig   *struct{ AdditionalVersionWeights map[string]float64 }
	}
	_ = json.NewDecoder(r.Body).Decode(&to)
	number, _ := strconv.Atoi(to.FunctionVersion)
	if _, ok := f.releases[number]; !ok {
		reply(w, http.StatusNotFound, map[string]any{"Message": "no version " + to.FunctionVersion})
		return
	}
	f.live = number
	if to.RoutingConfig != nil && len(to.RoutingConfig.AdditionalVersionWeights) == 0 {
		f.canary = 0
	}
	reply(w, http.StatusOK, f.alias())
}

func (f *function) remove(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.FormValue("Qualifier"))
	if _, ok := f.releases[number]; err != nil || !ok {
		reply(w, http.StatusNotFound, map[string]any{"Message": "no version " + r.FormValue("Qualifier")})
		return
	}
	if number == f.live || number == f.canary {
		reply(w, http.StatusConflict, map[string]any{"Message": "an alias refers to the version"})
		return
	}
	delete(f.releases, number)
	w.WriteHeader(http.StatusNoContent)
}

// rollback runs the command for the development stack, and returns its output.
func (p *project) rollback(t *testing.T, to string) (printed string, err error) {
	t.Helper()
	printed, calls, err := p.deploy(t, "-env", "dev", "-rollback", "-to", to)
	if calls != "" {
		t.Errorf("sam was called with %s", calls)
	}
	return printed, err
}
