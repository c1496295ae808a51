package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Check compares a response with the API document. at is the path below the server's URL. Check returns an error that
// lists all violations; if there are none, it records which parts of the document the response covers.
func (a *API) Check(method, at string, got Answer) error {
	p := a.find(at)
	switch {
	case p == nil && got.Status != http.StatusNotFound:
		return fmt.Errorf("%s %s is not described and answered %d", method, at, got.Status)
	case p == nil:
		return a.check(a.failure, got, method == http.MethodHead)
	case p.foreign:
		return nil
	case method == http.MethodOptions:
		if got.Status != http.StatusNoContent || got.Header.Get("Allow") == "" {
			return fmt.Errorf("OPTIONS %s answered %d, Allow %q", at, got.Status, got.Header.Get("Allow"))
		}
		return nil
	}
	described := method
	if method == http.MethodHead {
		described = http.MethodGet
	}
	if o := p.operations[described]; o != nil {
		return a.checkOperation(o, got, method == http.MethodHead)
	}
	if got.Status != http.StatusMethodNotAllowed {
		return fmt.Errorf("%s %s is not described and answered %d", method, at, got.Status)
	}
	for _, o := range p.operations { // A 405 response must be documented for every operation of the path.
		if err := a.checkOperation(o, got, method == http.MethodHead); err != nil {
			return err
		}
	}
	return nil
}

// find returns the documented path that matches at, or nil. A parameter matches any segment, but literal segments take
// precedence.
func (a *API) find(at string) *path {
	var found *path
	segments, best := strings.Split(at, "/"), -1
	for i := range a.paths {
		if exact := a.paths[i].matches(segments); exact > best {
			found, best = &a.paths[i], exact
		}
	}
	return found
}

// matches returns the number of literal segments that match, or -1 if the path does not match. If the path is marked
// foreign or ends in {proxy}, its last parameter matches all remaining segments.
func (p *path) matches(segments []string) int {
	own := p.segments
	last := len(own) - 1
	if isGreedy := p.foreign || own[last] == "{proxy}"; isGreedy && len(segments) > last {
		own, segments = own[:last], segments[:last]
	}
	if len(segments) != len(own) {
		return -1
	}
	exact := 0
	for i, segment := range own {
		switch {
		case segment == segments[i]:
			exact++
		case !strings.HasPrefix(segment, "{") || segments[i] == "":
			return -1
		}
	}
	return exact
}

func (a *API) checkOperation(o *operation, got Answer, isHead bool) error {
	r := o.responses[got.Status]
	if r == nil {
		return fmt.Errorf("%s: the status %d is not described: %s", o.name, got.Status, got.Body)
	}
	return a.check(r, got, isHead)
}

func (a *API) check(r *response, got Answer, isHead bool) error {
	wrong := r.wrongHeaders(got.Header)
	seen := []string{r.name}
	for name := range r.headers {
		if got.Header.Get(name) != "" {
			seen = append(seen, r.name+" header "+name)
		}
	}
	note := func(prefix string) func(string) {
		return func(at string) { seen = append(seen, r.name+" "+prefix+at) }
	}
	if !isHead {
		wrong = append(wrong, r.wrongBody(got, note(""))...)
	}
	if len(r.locations) > 0 {
		wrong = append(wrong, r.wrongLocation(got.Header.Get("Location"), note("Location?"))...)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s: %s: %s", r.name, strings.Join(wrong, "; "), got.Body)
	}
	a.note(seen...)
	return nil
}

func (r *response) wrongHeaders(got http.Header) []string {
	var wrong []string
	for name, h := range r.headers {
		text := got.Get(name)
		if text == "" {
			if h.required {
				wrong = append(wrong, "there is no header "+name)
			}
			continue
		}
		var value any = text
		if n, err := strconv.Atoi(text); err == nil && len(h.schema.violations("", float64(n))) == 0 {
			continue // header values are strings, even if the schema requires a number
		}
		wrong = append(wrong, h.schema.violations("header "+name, value)...)
	}
	return wrong
}

func (r *response) wrongBody(got Answer, note func(string)) []string {
	media, _, _ := strings.Cut(got.Header.Get("Content-Type"), ";")
	switch {
	case r.body == nil && len(got.Body) > 0:
		return []string{"there is a body"}
	case r.body == nil, r.media == "*/*":
		return nil
	case media != r.media:
		return []string{fmt.Sprintf("the media type is %q, want %q", media, r.media)}
	case media == "text/html":
		return r.body.violations("", string(got.Body))
	}
	var value any
	if err := json.Unmarshal(got.Body, &value); err != nil {
		return []string{err.Error()}
	}
	return append(r.body.violations("", value), undeclared("", value, []*schema{r.body}, note)...)
}

// wrongLocation checks a redirect URL's query string against the response's location schemas and reports violations of
// the closest match.
func (r *response) wrongLocation(address string, note func(string)) []string {
	target, err := url.Parse(address)
	if err != nil {
		return []string{err.Error()}
	}
	query := map[string]any{}
	for name, values := range target.Query() {
		if len(values) > 1 {
			return []string{"Location has " + name + " more than once"}
		}
		query[name] = values[0]
	}
	var best []string
	for i, s := range r.locations {
		var seen []string
		wrong := append(s.violations("Location", query),
			undeclared("", query, []*schema{s}, func(at string) { seen = append(seen, at) })...)
		if len(wrong) == 0 {
			for _, at := range seen {
				note(at)
			}
			return nil
		}
		if i == 0 || len(wrong) < len(best) {
			best = wrong
		}
	}
	return append(best, "in "+target.RawQuery)
}
