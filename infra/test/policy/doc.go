// Package policy holds the house rules as functions: each reads one input (the tree, the list of packages, the
// template) and returns what breaks the rule, so that a test can also show the rule failing on a bad example. The
// tests of this package run every rule over the repository.
//
// It judges only the repository's text, and no rule is stated twice: .golangci.yml and .ci/deadcode judge Go,
// .ci/template/rules (cfn-guard), checkov and cfn-lint judge the template's resources one by one. Rules stay here if
// they compare files with each other, or permissions with each other (docs/adr/0050-weight.md).
package policy
