// Package interop is the parent of the tests that run third-party code. Package oidc tests the SMART client against a
// third-party authorization server. Package webhooks verifies webhook signatures with third-party libraries. Package
// npm installs the third-party code that both packages use. The recipes folder contains the scripts from
// docs/develop/interop.md.
package interop
