package export

import (
	"strings"

	"recordbridge/shared/fhir"
)

// unsure is what the Patient names by whole addresses: it is read before a search has told by which address the server knows
// itself, which says whose they are.
type unsure struct {
	Links       []string          `json:"links,omitempty"` // the same person's other records
	References  []string          `json:"references,omitempty"`
	Attachments []fhir.Attachment `json:"attachments,omitempty"`
}

// maxUnsure bounds each list of what is kept so; what is beyond is taken for another server's.
const maxUnsure = 100

// keepReference keeps a whole address for later; it is false when nothing more will be learned of the server's own.
func (c *checkpoint) keepReference(text string) bool {
	if c.Settled || !strings.Contains(text, "://") || len(c.Unsure.References) >= maxUnsure {
		return false
	}
	c.Unsure.References = append(c.Unsure.References, text)
	return true
}

// keepLink does the same with a link to a record of the same person.
func (c *checkpoint) keepLink(text string) bool {
	if c.Settled || !strings.Contains(text, "://") || len(c.Unsure.Links) >= maxUnsure {
		return false
	}
	c.Unsure.Links = append(c.Unsure.Links, text)
	return true
}

// keepAttachment does the same with an attachment.
func (c *checkpoint) keepAttachment(a fhir.Attachment) bool {
	if c.Settled || !strings.Contains(a.URL, "://") || len(c.Unsure.Attachments) >= maxUnsure {
		return false
	}
	c.Unsure.Attachments = append(c.Unsure.Attachments, a)
	return true
}

// learn takes from the first page of a search by which address the server knows itself.
func (c *collector) learn(page fhir.Bundle, path string) {
	c.base = c.base.Learn(page, path)
	c.state.Own = c.base.Own()
	if page.Self != "" || page.EntryBase != "" {
		c.settle()
	}
}

// settle decides where what the Patient names is.
func (c *collector) settle() {
	kept := c.state.Unsure
	c.state.Settled, c.state.Unsure = true, unsure{}
	for _, text := range kept.Links {
		c.knownBy(text)
	}
	for _, text := range kept.References {
		c.noteReference(text, 0)
	}
	for _, a := range kept.Attachments {
		c.noteAttachment(a, 0)
	}
}
