// Package policy implements the repository's rules as functions. Each rule reads its inputs (the tree, the package list
// or the template) and returns violations. Rules are functions, so they can be tested with invalid examples. The
// package's tests apply every rule to the repository.
//
// The package checks only the repository's text. Each rule is implemented only once. .golangci.yml and .ci/deadcode
// check Go code, and .ci/template/rules (cfn-guard), checkov and cfn-lint check individual resources in the template. A
// rule belongs in this package if it compares several files or permissions (docs/adr/0050-weight.md).
package policy
