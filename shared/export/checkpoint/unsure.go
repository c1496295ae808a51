package checkpoint

import (
	"strings"

	"recordbridge/shared/fhir"
)

// Unresolved holds absolute URLs found in the Patient. The export reads the Patient before it knows the server's own
// base URL, so it cannot yet attribute these URLs to a server.
type Unresolved struct {
	Links       []string          `json:"links,omitempty"` // URLs of other Patient resources for the same person
	References  []string          `json:"references,omitempty"`
	Attachments []fhir.Attachment `json:"attachments,omitempty"`
}

// KeepReference stores an absolute URL until the server's own URL is known. It returns false without storing the URL if
// the search for the server's own URL has ended or a limit is reached.
func (s *Server) KeepReference(text string) bool {
	return keep(s, &s.Unresolved.References, text, text)
}

// KeepLink is like KeepReference, but stores a link to another Patient resource for the same person.
func (s *Server) KeepLink(text string) bool { return keep(s, &s.Unresolved.Links, text, text) }

// KeepAttachment is like KeepReference but stores an attachment with an absolute URL.
func (s *Server) KeepAttachment(a fhir.Attachment) bool {
	return keep(s, &s.Unresolved.Attachments, a, a.URL)
}

func keep[T any](s *Server, list *[]T, one T, address string) bool {
	if s.Resolved || len(*list) >= maxUnresolved || !strings.Contains(address, "://") {
		return false
	}
	*list = append(*list, one)
	return true
}

// TakeUnresolved returns the stored URLs. Callers should wait until nothing more can be learned about the server's own
// URL.
func (s *Server) TakeUnresolved() Unresolved {
	kept := s.Unresolved
	s.Resolved, s.Unresolved = true, Unresolved{}
	return kept
}
