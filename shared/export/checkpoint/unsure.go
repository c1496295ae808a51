package checkpoint

import (
	"strings"

	"recordbridge/shared/fhir"
)

// Unsure is what the Patient names by whole addresses: it is read before a search has told by which address the server
// knows itself, which says whose they are.
type Unsure struct {
	Links       []string          `json:"links,omitempty"` // the same person's other records
	References  []string          `json:"references,omitempty"`
	Attachments []fhir.Attachment `json:"attachments,omitempty"`
}

// KeepReference keeps a whole address for later; it is false when nothing more will be learned of the server's own.
func (s *Server) KeepReference(text string) bool { return keep(s, &s.Unsure.References, text, text) }

// KeepLink does the same with a link to a record of the same person.
func (s *Server) KeepLink(text string) bool { return keep(s, &s.Unsure.Links, text, text) }

// KeepAttachment does the same with an attachment.
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

// TakeUnsure returns what was kept: nothing more will be learned of the server's own address.
func (s *Server) TakeUnsure() Unsure {
	kept := s.Unsure
	s.Resolved, s.Unsure = true, Unsure{}
	return kept
}
