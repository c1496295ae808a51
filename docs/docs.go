// Package docs has the documents that programs read. They are the ones that people read, so that both are told the
// same, and a program that reads one finds it in any folder that it is started from.
package docs

import (
	_ "embed"
	"slices"
)

//go:embed operate/failures.md
var failures string

//go:embed openapi.yaml
var openAPI []byte

// Failures is operate/failures.md: which log line tells of which failure, and what to do.
func Failures() string { return failures }

// OpenAPI is openapi.yaml: what the API answers.
func OpenAPI() []byte { return slices.Clone(openAPI) }
