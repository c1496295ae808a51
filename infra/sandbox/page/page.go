// Package page owns how the sandbox's pages are served: one static document each, whose JSON block a script draws.
// That keeps HTML templates, which double a binary, out of the function. What a page says is the business of the
// server that it belongs to.
package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// place is where the JSON block stands in a document.
const place = "__PAGE_DATA__"

// policy forbids everything but the page's own style and script. The pages have links and no forms, because a browser
// applies form-action to the whole chain of redirects that follows, and that chain is the client's.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'"

// Write answers with a document and its block. The error is that of a block that cannot be encoded;
// nothing is answered then.
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

// WriteAsset answers with a style or a script.
func WriteAsset(w http.ResponseWriter, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(body)
}
