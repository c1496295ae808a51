package fhirserver

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
)

// maxPageBytes keeps an answer under the 6 MB that API Gateway takes from a Lambda, with room for base64.
const maxPageBytes = 4 << 20

// entryOverhead is about what an entry takes beside its resource.
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

// writePage answers with the matches from the query's offset on, as many as _count and maxPageBytes allow but at
// least one, and a link to the next page when there is more. _count=0 asks for the total only.
func (s *Server) writePage(w http.ResponseWriter, resourceType string, q query, matches []*indexed) {
	page := searchset{
		ResourceType: "Bundle", Type: "searchset", Total: len(matches),
		Link: []bundleLink{{"self", s.link(resourceType, q, q.offset)}},
	}
	next := min(q.offset, len(matches))
	size := 0
	for _, match := range matches[next:] {
		size += len(match.Body) + entryOverhead
		if len(page.Entry) == q.count || len(page.Entry) > 0 && size > maxPageBytes {
			break
		}
		page.Entry = append(page.Entry, bundleEntry{
			FullURL:  s.base + "/" + match.Type + "/" + match.ID,
			Resource: match.Body,
			Search:   searchMode{"match"},
		})
		next++
	}
	if q.count > 0 && next < len(matches) {
		page.Link = append(page.Link, bundleLink{"next", s.link(resourceType, q, next)})
	}
	s.writeFHIR(w, http.StatusOK, page)
}

// link is the absolute URL of the page that starts at offset.
func (s *Server) link(resourceType string, q query, offset int) string {
	values := url.Values{"_count": {strconv.Itoa(q.count)}}
	for _, f := range q.filters {
		values.Add(f.param.name, f.raw)
	}
	if offset > 0 {
		values.Set("page", encodePage(offset))
	}

	return s.base + "/" + resourceType + "?" + values.Encode()
}
