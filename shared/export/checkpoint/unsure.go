package checkpoint

import (
	"strings"

	"recordbridge/shared/fhir"
)

// Unresolved holds absolute URLs found in the Patient. The Patient is read before a search reveals the server's own
// base URL, so these URLs cannot be attributed to a server yet.
type Unresolved struct {
	Links       []string          `json:"links,omitempty"` // URLs of other records of the same person
	References  []string          `json:"references,omitempty"`
	Attachments []fhir.Attachment `json:"attachments,omitempty"`
}

// KeepReference stores an absolute URL until the server's own URL is known. It reports false if nothing more will be
// learned about that URL.
func (s *Server) KeepReference(text string) bool {
	return keep(s, &s.Unresolved.References, text, text)
}

// KeepLink stores a link to another record of the same person until the server's own URL is known, like KeepReference.
func (s *Server) KeepLink(text string) bool { return keep(s, &s.Unresolved.Links, text, text) }

// KeepAttachment stores an attachment with an absolute URL until the server's own URL is known, like KeepReference.
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

// TakeUnresolved returns the stored URLs. Call it once nothing more will be learned about the server's own URL.
func (s *Server) TakeUnresolved() Unresolved {
	kept := s.Unresolved
	s.Resolved, s.Unresolved = true, Unresolved{}
	return kept
}
