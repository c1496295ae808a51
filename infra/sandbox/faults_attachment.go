package sandbox

import (
	"io"
	"strconv"
	"strings"

	"recordbridge/infra/sandbox/switches"
)

// mebibyte is the unit of the sizes in switches.
const mebibyte = 1 << 20

// servesAttachments says whether the portal has attachments at addresses of their own.
func servesAttachments(with switches.Set) bool {
	return with.Has(switches.AttachmentURLs) || with.Has(switches.AttachmentMissing) ||
		with.Has(switches.AttachmentLarge) || with.Has(switches.AttachmentDrops)
}

// rewriteAttachments gives the Binary behind a document another address.
func (q fhirRequest) rewriteAttachments(node any) {
	var base string
	switch {
	case q.with.Has(switches.AttachmentForeign):
		base = "https://" + foreignHost + "/attachments/"
	case servesAttachments(q.with):
		base = q.base + "/fhir/attachments/"
	default:
		return
	}
	for _, document := range resourcesIn(node) {
		if document["resourceType"] != "DocumentReference" {
			continue
		}
		contents, _ := document["content"].([]any)
		for _, one := range contents {
			content, _ := one.(map[string]any)
			attachment, _ := content["attachment"].(map[string]any)
			address, _ := attachment["url"].(string)
			if id, isBinary := strings.CutPrefix(address, "Binary/"); isBinary {
				attachment["url"] = base + id
			}
		}
	}
}

// resourcesIn are the resource of an answer and, when it is a Bundle, those of its entries.
func resourcesIn(node any) []map[string]any {
	body, _ := node.(map[string]any)
	found := []map[string]any{body}
	entries, _ := body["entry"].([]any)
	for _, one := range entries {
		entry, _ := one.(map[string]any)
		if resource, is := entry["resource"].(map[string]any); is {
			found = append(found, resource)
		}
	}

	return found
}

// spoilAttachment spoils the content of an attachment.
func (q fhirRequest) spoilAttachment(answer *captured) {
	size := q.with.Number(switches.AttachmentLarge)
	switch {
	case size > 0:
		answer.body.Reset()
		answer.generated = func(w io.Writer) { writeText(w, size) }
	case q.with.Has(switches.AttachmentDrops):
		answer.header.Set("Content-Length", strconv.Itoa(answer.body.Len()))
		answer.body.Truncate(answer.body.Len() / 2)
	}
}

// writeText writes so many MiB of text that may stand in a JSON string, and holds no more than a small part of it. It
// stops early when the client has gone away.
func writeText(w io.Writer, mebibytes int64) {
	const line = "generated text of the sandbox 0123456789 abcdefghijklmnopqrstuv " // 64 bytes
	block := strings.Repeat(line, 1024)                                             // 64 KiB
	for range mebibytes * (mebibyte / int64(len(block))) {
		if _, err := io.WriteString(w, block); err != nil {
			return
		}
	}
}
