// Package interop groups the tests that run third-party code. Package oidc tests the SMART client against an
// authorization server. Package webhooks verifies webhook signatures with third-party libraries. Package npm installs
// the third-party code for both packages. The recipes folder contains the scripts from docs/develop/interop.md.
package interop
