// Command functiontable writes the table of functions in docs/architecture.md: of each function its routes or triggers,
// the files of shared/ that its handler and wiring use, and what its role may touch. Routes and roles are read from
// template.yaml, methods from docs/openapi.yaml, files from the source.
//
//	functiontable [-o docs/architecture.md]
package main
