// Package storetest says as tests what the sandbox's authorization server relies on in its store (oauth.Store), for
// whoever implements it: the one in memory, and the one in DynamoDB that is deployed.
package storetest
