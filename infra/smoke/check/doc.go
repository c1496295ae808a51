// Package check looks at a running stack from outside, as an organisation in test mode and its patient see it: whether
// the API is there, answers as docs/openapi.yaml says, limits, and connects; and, where the stack has the sandbox,
// whether the main job works.
//
// It is safe on a stack that serves patients: it refuses a credential of live mode before it sends anything, it
// works in one organisation only, and takes away what it made, also when a step fails. It prints no key, no token,
// and no address with its query.
package check
