// Package policy implements the repository's rules as functions. Each rule reads its inputs (the tree, the list of
// packages or the template) and returns the violations. Because rules are functions, they can be tested with bad
// examples. The package's tests run every rule on the repository.
//
// The package checks only the repository's text. Rules are never implemented twice: .golangci.yml and .ci/deadcode
// check Go code, and .ci/template/rules (cfn-guard), checkov and cfn-lint check individual resources in the template. A
// rule belongs in this package if it compares several files or permissions (docs/adr/0050-weight.md).
package policy
