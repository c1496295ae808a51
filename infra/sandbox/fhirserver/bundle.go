package fhirserver

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
)

// maxPageBytes limits a page's size in bytes. Even in base64, the response stays under the 6 MB that API Gateway
// accepts from a Lambda function.
const maxPageBytes = 4 << 20

// entryOverhead is an entry's approximate size in bytes, excluding its resource.
const entryOverhead = 300

type (
	searchset struct {
		ResourceType string        `json:"resourceType"`
		Type         string        `json:"type"`
		Total        int           `json:"total"`
		Link         []bundleLink  `json:"link"`
		Entry        []bundleEntry `json:"entry,omitempty"`
	}
	bundleLink struct {
		Relation string `json:"relation"`
		URL      string `json:"url"`
	}
	bundleEntry struct {
		FullURL  string          `json:"fullUrl"`
		Resource json.RawMessage `json:"resource"`
		Search   searchMode      `json:"search"`
	}
	searchMode struct {
		Mode string `json:"mode"`
	}
)

// writePage writes a page of search results, starting at the query's offset. The page contains as many matches as
// _count and maxPageBytes allow, but at least one. The page also contains each included resource once and, if there are
// more matches, a link to the next page. _count=0 requests only the total. path is the request's path below the FHIR
// base.
func (s *Server) writePage(w http.ResponseWriter, path string, q query, matches []*indexed, current session) {
	page := searchset{
		ResourceType: "Bundle", Type: "searchset", Total: len(matches),
		Link: []bundleLink{{"self", s.link(path, q, q.offset)}},
	}
	next := min(q.offset, len(matches))
	size := 0
	held := map[*indexed]bool{}
	var included []*indexed
	for _, match := range matches[next:] {
		brought := current.brought(q.includes, match)
		size += len(match.Body) + entryOverhead
		for _, one := range brought {
			size += len(one.Body) + entryOverhead
		}
		if len(page.Entry) == q.count || len(page.Entry) > 0 && size > maxPageBytes {
			break
		}
		page.Entry = append(page.Entry, s.entry(match, "match"))
		held[match] = true
		included = append(included, brought...)
		next++
	}
	for _, one := range included {
		if !held[one] {
			held[one] = true
			page.Entry = append(page.Entry, s.entry(one, "include"))
		}
	}
	if q.count > 0 && next < len(matches) {
		page.Link = append(page.Link, bundleLink{"next", s.link(path, q, next)})
	}
	s.writeFHIR(w, http.StatusOK, page)
}

func (s *Server) entry(of *indexed, mode string) bundleEntry {
	return bundleEntry{
		FullURL:  s.base + "/" + s.options.Version.outer(of.Type) + "/" + of.ID,
		Resource: s.options.Version.body(of),
		Search:   searchMode{mode},
	}
}

func (s *Server) link(path string, q query, offset int) string {
	values := url.Values{"_count": {strconv.Itoa(q.count)}}
	for _, f := range q.filters {
		values.Add(f.param.name, f.raw)
	}
	for _, one := range q.includes {
		name := "_include"
		if one.reverse {
			name = "_revinclude"
		}
		values.Add(name, s.nameOf(one))
	}
	if offset > 0 {
		values.Set("page", encodePage(offset))
	}

	return s.base + "/" + path + "?" + values.Encode()
}
