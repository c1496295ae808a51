package sandbox

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"recordbridge/infra/sandbox/switches"
)

// Hosts to which clients must not send requests. The hosts do not resolve (RFC 2606) or are private.
const (
	foreignHost  = "foreign.example"
	internalHost = "10.0.0.7:8080"
	// insideBase is the FHIR base URL that a server behind a gateway uses internally.
	insideBase = "http://inside.example:8080/hapi/fhir"
)

func errEncoding(what string, err error) error {
	return fmt.Errorf("%s an answer to spoil: %w", what, err)
}

// rewriteBundle modifies a page of search results as the switches specify.
func (q fhirRequest) rewriteBundle(ctx context.Context, bundle map[string]any) error {
	if !q.asksPage() {
		return nil
	}
	q.addNarrative(bundle)
	q.addEntries(bundle)
	entries, _ := bundle["entry"].([]any)
	switch {
	case q.with.Has(switches.NoTotal):
		delete(bundle, "total")
	case q.with.Has(switches.TotalPage):
		bundle["total"] = len(entries)
	}
	if q.with.Has(switches.OutcomeEntry) {
		bundle["entry"] = append(entries, map[string]any{
			"resource": json.RawMessage(
				`{"resourceType":"OperationOutcome","issue":[{"severity":"warning","code":"informational",` +
					`"diagnostics":"Some data may be held elsewhere."}]}`),
			"search": map[string]any{"mode": "outcome"},
		})
	}
	links, _ := bundle["link"].([]any)
	for _, one := range links {
		link, _ := one.(map[string]any)
		address, _ := link["url"].(string)
		if link["relation"] != "next" {
			continue
		}
		if q.with.Has(switches.NextLoop) {
			link["url"] = self(links)

			continue
		}
		rewritten, err := q.rewriteNext(ctx, address)
		if err != nil {
			return err
		}
		link["url"] = rewritten
	}

	return nil
}

func self(links []any) any {
	for _, one := range links {
		if link, _ := one.(map[string]any); link["relation"] == "self" {
			return link["url"]
		}
	}

	return nil
}

func (q fhirRequest) rewriteNext(ctx context.Context, address string) (string, error) {
	next, err := url.Parse(address)
	if err != nil {
		return "", errEncoding("parse the next link of", err)
	}
	path, _, _ := strings.Cut(strings.TrimPrefix(address, q.base+"/fhir/"), "?")
	if q.with.Has(switches.SessionNext) {
		id, err := q.portalState.openSession(ctx, next.RawQuery)
		if err != nil {
			return "", err
		}
		next.RawQuery = url.Values{"sessionID": {id}}.Encode()
	}
	if q.with.Has(switches.GetPages) {
		id, err := q.portalState.openSession(ctx, path+"?"+next.RawQuery)
		if err != nil {
			return "", err
		}

		return q.base + "/fhir?" + url.Values{"_getpages": {id}, "_bundletype": {"searchset"}}.Encode(), nil
	}
	switch {
	case q.with.Has(switches.NextInternal):
		next.Scheme, next.Host = "http", internalHost
	case q.with.Has(switches.NextForeign):
		next.Scheme, next.Host, next.Path = "https", foreignHost, "/r4/"+path
	case q.with.Has(switches.NextRelative):
		return path + "?" + next.RawQuery, nil
	}

	return next.String(), nil
}

// turnPage returns the request for the page that a next link identifies. A next link with a session ID works only once,
// but a next link at the FHIR base can be reused.
func (q fhirRequest) turnPage(ctx context.Context, r *http.Request) (fhirRequest, error) {
	q.continued = q.query.Has("page")
	if id := q.query.Get("sessionID"); id != "" && q.with.Has(switches.SessionNext) {
		stored, open, err := q.portalState.takeSession(ctx, id)
		q.continued, q.lost, r.URL.RawQuery = true, !open, stored

		return q, err
	}
	if q.op != opPage {
		return q, nil
	}
	stored, open, err := q.portalState.session(ctx, q.query.Get("_getpages"))
	if err != nil || !open {
		return q, err
	}
	path, query, _ := strings.Cut(stored, "?")
	q.op, q.args = route("fhir/" + path)
	q.resourceType, q.continued, r.URL.RawQuery = q.args[0], true, query

	return q, nil
}

// rewriteReferences makes references absolute, using either a foreign host or the portal's own host.
func (q fhirRequest) rewriteReferences(node any) {
	foreign, absolute := q.with.Has(switches.ForeignReference), q.with.Has(switches.AbsoluteOwn)
	if !foreign && !absolute {
		return
	}
	switch node := node.(type) {
	case []any:
		for _, one := range node {
			q.rewriteReferences(one)
		}
	case map[string]any:
		for _, one := range node {
			q.rewriteReferences(one)
		}
		target, _ := node["reference"].(string)
		resourceType, _, isLiteral := strings.Cut(target, "/")
		switch {
		case !isLiteral || strings.Contains(target, ":"):
		case foreign && (resourceType == "Practitioner" || resourceType == "Organization" || resourceType == "Location"):
			node["reference"] = "http://" + foreignHost + "/fhir/" + target
		case absolute:
			node["reference"] = q.base + "/fhir/" + target
		}
	}
}

// rawBinary replaces a Binary resource in the response with its content.
func rawBinary(answer *captured) error {
	var binary struct {
		ContentType string `json:"contentType"`
		Data        string `json:"data"`
	}
	if !strings.HasPrefix(answer.header.Get("Content-Type"), "application/fhir+json") {
		return nil
	}
	if err := json.Unmarshal(answer.body.Bytes(), &binary); err != nil {
		return errEncoding("decode", err)
	}
	data, err := base64.StdEncoding.DecodeString(binary.Data)
	if err != nil {
		return errEncoding("decode the content of", err)
	}
	answer.header.Set("Content-Type", binary.ContentType)
	answer.body.Reset()
	_, _ = answer.body.Write(data)

	return nil
}
