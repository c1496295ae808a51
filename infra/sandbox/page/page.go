// Package page serves the sandbox's pages. Each page is a static document whose script renders a JSON block. Pages
// don't use HTML templates, which would double the binary's size. Each page's content is defined by the package that
// calls Write.
package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

const place = "__PAGE_DATA__"

// policy forbids everything except the page's own style sheet and script. Pages use links instead of forms, because
// browsers apply form-action to every redirect after a form submission and the client chooses the redirect targets.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'"

// Write responds with document, inserting block as JSON. If block can't be encoded, Write returns an error without
// writing a response.
func Write(w http.ResponseWriter, status int, document []byte, block any) error {
	// json.Marshal writes <, > and & as \u escapes, so no value can end the script element.
	raw, err := json.Marshal(block)
	if err != nil {
		return fmt.Errorf("encode page data: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(bytes.Replace(document, []byte(place), raw, 1))

	return nil
}

// WriteAsset responds with a style sheet or a script.
func WriteAsset(w http.ResponseWriter, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(body)
}
