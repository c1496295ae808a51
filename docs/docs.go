// Package docs embeds the documents that programs read, so that programs and people read the same text, whatever folder
// a program is started in.
package docs

import (
	_ "embed"
	"slices"
)

//go:embed operate/failures.md
var failures string

//go:embed openapi.yaml
var openAPI []byte

// Failures returns operate/failures.md: the log line of each failure, and what to do about it.
func Failures() string { return failures }

// OpenAPI returns openapi.yaml, the description of the API.
func OpenAPI() []byte { return slices.Clone(openAPI) }
