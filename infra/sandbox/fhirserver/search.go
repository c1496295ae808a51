package fhirserver

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"recordbridge/infra/sandbox/scope"
)

const (
	defaultCount = 50
	maxCount     = 200
)

var (
	errBadCount    = errors.New("_count must be a whole number, 0 or more")
	errBadPage     = errors.New("page is not a cursor of this server")
	errUnknown     = errors.New("a search parameter is not supported for this type")
	errModifier    = errors.New("search modifiers and chains are not supported")
	errNotOwner    = errors.New("the token is for another patient")
	errEmptyFilter = errors.New("a search parameter has no value")
)

type query struct {
	filters  []filter
	includes []include
	count    int
	offset   int
}

// filter is a search parameter and its values; at least one value must match.
type filter struct {
	param   param
	values  []string
	moments []moment // parsed values, if the parameter is a date
	raw     string
}

type vocabulary struct {
	params   []param
	includes []include
}

// Search serves GET /{type}?….
func (s *Server) Search(w http.ResponseWriter, r *http.Request, resourceType string) {
	current, ok := s.open(w, r, resourceType, scope.Search)
	if !ok {
		return
	}
	inner := s.options.Version.inner(resourceType)
	words := vocabulary{params: s.params(inner), includes: s.includes(inner)}
	if len(words.params) == 0 {
		s.outcome(w, http.StatusBadRequest, issueNotSupported, "This type can only be read by ID.")

		return
	}
	search, err := s.parseQuery(words, r)
	if err == nil {
		err = search.checkOwner(current.patient)
	}
	switch {
	case errors.Is(err, errNotOwner):
		s.outcome(w, http.StatusForbidden, issueForbidden, errNotOwner.Error())
	case err != nil:
		s.outcome(w, http.StatusBadRequest, issueInvalid, err.Error())
	default:
		s.writePage(w, resourceType, search, search.run(current.record.byType[inner]), current)
	}
}

// parseQuery parses search parameters. Unknown parameters are ignored unless strict handling is requested or SearchBy
// is set (https://hl7.org/fhir/R4/search.html#errors). The self link lists the parameters that the server applied.
func (s *Server) parseQuery(words vocabulary, r *http.Request) (query, error) {
	q := query{count: defaultCount}
	values := r.URL.Query()
	strict := strings.Contains(r.Header.Get("Prefer"), "handling=strict") || s.options.SearchBy != ""
	for _, name := range sortedNames(values) {
		for _, value := range values[name] {
			err := s.set(&q, words, name, value)
			if errors.Is(err, errUnknown) && !strict {
				continue
			}
			if err != nil {
				return query{}, err
			}
		}
	}

	return q, nil
}

func (s *Server) set(q *query, words vocabulary, name, value string) error {
	switch name {
	case "_count":
		count, err := strconv.Atoi(value)
		if err != nil || count < 0 {
			return errBadCount
		}
		q.count = min(count, maxCount)

		return nil
	case "page":
		offset, err := decodePage(value)
		q.offset = offset

		return err
	case "_format", "_pretty":
		return nil
	case "_include", "_revinclude":
		at := slices.IndexFunc(words.includes, func(one include) bool {
			return one.reverse == (name == "_revinclude") && s.nameOf(one) == value
		})
		if at < 0 {
			return errUnknown
		}
		q.includes = append(q.includes, words.includes[at])

		return nil
	}
	plain, _, modified := strings.Cut(strings.ReplaceAll(name, ".", ":"), ":")
	at := slices.IndexFunc(words.params, func(p param) bool { return p.name == plain })
	switch {
	case at < 0:
		return errUnknown
	case modified:
		return errModifier
	case value == "":
		return errEmptyFilter
	}
	f, err := s.newFilter(words.params[at], value)
	q.filters = append(q.filters, f)

	return err
}

func (s *Server) newFilter(p param, value string) (filter, error) {
	f := filter{param: p, raw: value}
	for one := range strings.SplitSeq(value, ",") {
		if p.kind == kindDate {
			m, err := parseMoment(one, p.prefix)
			if err != nil {
				return filter{}, err
			}
			f.moments = append(f.moments, m)

			continue
		}
		if p.kind == kindReference {
			one = s.options.Version.innerReference(strings.TrimPrefix(one, s.base+"/"))
		}
		f.values = append(f.values, one)
	}

	return f, nil
}

// checkOwner returns an error if the search is for another patient, whether or not that patient exists.
func (q *query) checkOwner(patient string) error {
	for _, f := range q.filters {
		if f.param.target != "Patient" && f.param.name != "subject" {
			continue
		}
		for _, value := range f.values {
			if !referenceMatches(patient, value) {
				return errNotOwner
			}
		}
	}

	return nil
}

func (q *query) run(resources []*indexed) []*indexed {
	var found []*indexed
	for _, r := range resources {
		if !slices.ContainsFunc(q.filters, func(f filter) bool { return !f.matches(r) }) {
			found = append(found, r)
		}
	}

	return found
}

func (f filter) matches(r *indexed) bool {
	if f.param.kind == kindDate {
		return slices.ContainsFunc(f.moments, func(m moment) bool { return m.holds(r.updated) })
	}
	compare := tokenMatches
	switch f.param.kind {
	case kindReference:
		compare = referenceMatches
	case kindURI:
		compare = func(stored, wanted string) bool { return stored == wanted }
	case kindToken, kindDate:
	}

	return slices.ContainsFunc(r.values[f.param.name], func(stored string) bool {
		return slices.ContainsFunc(f.values, func(wanted string) bool { return compare(stored, wanted) })
	})
}

// referenceMatches reports whether the reference "Type/id" matches a wanted reference or bare ID.
func referenceMatches(stored, wanted string) bool {
	if strings.Contains(wanted, "/") {
		return stored == wanted
	}
	_, id, _ := strings.Cut(stored, "/")

	return id == wanted
}

// tokenMatches reports whether the token "system|code" matches a search value: "system|code", "|code" (no system) or
// "code" (any system).
func tokenMatches(stored, wanted string) bool {
	if strings.Contains(wanted, "|") {
		return stored == wanted
	}
	_, code, _ := strings.Cut(stored, "|")

	return code == wanted
}

// encodePage returns the cursor for the page that starts at offset. Cursors grant no access, because each page request
// is authorised separately.
func encodePage(offset int) string {
	return base64.RawURLEncoding.EncodeToString([]byte("from:" + strconv.Itoa(offset)))
}

func decodePage(cursor string) (int, error) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	number, isOurs := strings.CutPrefix(string(raw), "from:")
	if err != nil || !isOurs {
		return 0, errBadPage
	}
	offset, err := strconv.Atoi(number)
	if err != nil || offset < 0 {
		return 0, errBadPage
	}

	return offset, nil
}

func sortedNames(values url.Values) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)

	return names
}
