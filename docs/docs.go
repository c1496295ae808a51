// Package docs embeds the documents that programs of the service read at run time. Reading an embedded document does
// not depend on the working directory.
package docs

import (
	_ "embed"
	"slices"
)

//go:embed operate/failures.md
var failures string

//go:embed openapi.yaml
var openAPI []byte

// Failures returns operate/failures.md, which lists each failure's log line and remedy.
func Failures() string { return failures }

// OpenAPI returns openapi.yaml, the API's OpenAPI description.
func OpenAPI() []byte { return slices.Clone(openAPI) }
