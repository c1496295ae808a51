package sandbox

import (
	"io"
	"strconv"
	"strings"

	"recordbridge/infra/sandbox/switches"
)

// mebibyte is the number of bytes in a MiB, the unit in which switches specify sizes.
const mebibyte = 1 << 20

// servesAttachments reports whether the portal serves attachments from separate URLs.
func servesAttachments(with switches.Set) bool {
	return with.Has(switches.AttachmentURLs) || with.Has(switches.AttachmentMissing) ||
		with.Has(switches.AttachmentLarge) || with.Has(switches.AttachmentDrops)
}

// rewriteAttachments changes the URLs of Binary resources in documents as the switches specify.
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

// resourcesIn returns the resource in a response and, if it is a Bundle, the resources in its entries.
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

// spoilAttachment modifies an attachment's content as the switches specify.
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

// writeText writes the given number of MiB of text that is valid in a JSON string, without buffering all of it. It
// stops early if the client disconnects.
func writeText(w io.Writer, mebibytes int64) {
	const line = "generated text of the sandbox 0123456789 abcdefghijklmnopqrstuv " // 64 bytes
	block := strings.Repeat(line, 1024)                                             // 64 KiB
	for range mebibytes * (mebibyte / int64(len(block))) {
		if _, err := io.WriteString(w, block); err != nil {
			return
		}
	}
}
