// Package docs embeds the documents that programs read at run time, so that programs and people read the same text.
// Reading an embedded document does not depend on the working directory.
package docs

import (
	_ "embed"
	"slices"
)

//go:embed operate/failures.md
var failures string

//go:embed openapi.yaml
var openAPI []byte

// Failures returns operate/failures.md, which lists the log line of each failure and the operator's remedy.
func Failures() string { return failures }

// OpenAPI returns openapi.yaml, the API's OpenAPI description.
func OpenAPI() []byte { return slices.Clone(openAPI) }
