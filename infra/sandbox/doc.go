// Package sandbox is a synthetic patient portal (SMART on FHIR, FHIR R4) with invented personas. The Lambda
// ANY /sandbox/{proxy+} (functions/sandboxehr) serves it in test mode only; make run and tests use it too.
//
// Auth: its own, as a portal has it: OAuth with PKCE in package oauth, bearer tokens in package fhirserver. It never
// answers with the service's error envelope, because it plays somebody else's server. Callers: the patient's browser
// (authorize), callback (token), exportworker and refreshworker (FHIR, refresh), deleteconnection (revoke).
//
// This package finds the operation behind a path and applies the faults that show on the wire. A FHIR base URL with
// switches in its path, /sandbox/with/outcome-entry,access:5s/fhir, is a portal of its own that misbehaves so; package
// switches lists them, and GET /sandbox/with shows the list. What the records say is in package persona. Beside the
// portal stands the simulated identity provider of TEFCA mode, package identity.
package sandbox
