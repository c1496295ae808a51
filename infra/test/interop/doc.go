// Package interop is the parent of the tests that run third-party code. Package oidc tests the SMART client against a
// third-party authorization server. Package webhooks verifies webhook signatures using third-party libraries. Package
// npm installs third-party code for packages oidc and webhooks. The recipes folder contains the scripts from
// docs/develop/interop.md.
package interop
