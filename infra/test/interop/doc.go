// Package interop is the parent of tests with third-party code: oidc tests the SMART client against an authorization
// server, webhooks verifies our signatures with other libraries, and npm installs both. recipes holds the scripts of
// docs/develop/interop.md.
package interop
