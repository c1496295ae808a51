package checkpoint

import (
	"strings"

	"recordbridge/shared/fhir"
)

// Unsure holds the absolute URLs in the Patient. The Patient is read before a search reveals the server's own base URL,
// which decides whether a URL belongs to this server.
type Unsure struct {
	Links       []string          `json:"links,omitempty"` // other records of the same person
	References  []string          `json:"references,omitempty"`
	Attachments []fhir.Attachment `json:"attachments,omitempty"`
}

// KeepReference stores an absolute URL for later. It reports false if nothing more will be learned about the server's
// own URL.
func (s *Server) KeepReference(text string) bool { return keep(s, &s.Unsure.References, text, text) }

// KeepLink stores a link to another record of the same person for later, like KeepReference.
func (s *Server) KeepLink(text string) bool { return keep(s, &s.Unsure.Links, text, text) }

// KeepAttachment stores an attachment with an absolute URL for later, like KeepReference.
func (s *Server) KeepAttachment(a fhir.Attachment) bool {
	return keep(s, &s.Unsure.Attachments, a, a.URL)
}

func keep[T any](s *Server, list *[]T, one T, address string) bool {
	if s.Resolved || len(*list) >= maxUnsure || !strings.Contains(address, "://") {
		return false
	}
	*list = append(*list, one)
	return true
}

// TakeUnsure returns the stored URLs. Call it once nothing more will be learned about the server's own URL.
func (s *Server) TakeUnsure() Unsure {
	kept := s.Unsure
	s.Resolved, s.Unsure = true, Unsure{}
	return kept
}
