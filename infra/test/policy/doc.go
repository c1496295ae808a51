// Package policy implements the repository's rules as functions. Each reads one input (the tree, the list of packages,
// the template) and returns the violations, so that tests can also show that a rule fails on a bad example. The tests
// of this package run every rule over the repository.
//
// It checks only the repository's text, and no rule exists twice: .golangci.yml and .ci/deadcode check Go;
// .ci/template/rules (cfn-guard), checkov and cfn-lint check the template's resources one by one. Rules belong here if
// they compare files with each other, or permissions with each other (docs/adr/0050-weight.md).
package policy
