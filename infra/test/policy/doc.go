// Package policy holds the house rules as functions: each reads one input (the tree, the list of packages, the
// template) and returns what breaks the rule, so that a test can also show the rule failing on a bad example. The
// tests of this package run every rule over the repository.
//
// It judges only what stands in the repository. What AWS refuses is the template package's business, what a linter
// can see is .golangci.yml's, and behaviour is the other tests'.
package policy
