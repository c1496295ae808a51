// Package memstore owns the in-memory twin of the store of the sandbox's authorization server, for tests that mount
// the sandbox in their own process.
//
// It keeps nothing between processes and never forgets an expired value by itself; a deployed sandbox uses DynamoDB.
package memstore
