// Package interop is the parent of tests with third-party code. Package oidc tests the SMART client against an
// authorization server, and package webhooks verifies our signatures with other libraries. Package npm installs the
// third-party code for both. The folder recipes contains the scripts of docs/develop/interop.md.
package interop
