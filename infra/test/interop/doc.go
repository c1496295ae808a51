// Package interop has nothing of its own: oidc has an authorization server that others wrote judge the SMART client,
// webhooks has the libraries of others verify our signatures, and npm installs both. recipes holds the scripts of
// docs/develop/interop.md.
package interop
