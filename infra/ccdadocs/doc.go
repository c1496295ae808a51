// Command ccdadocs writes the tables of docs/ccda.md: what the documents that the project has, and the
// public ones where they are on this machine, are converted to, what of them is left out and why, and which
// rule takes which template.
//
//	go run ./infra/ccdadocs
//
// It runs at the top of the repository. Tables of documents that are not here stay as they are.
package main
