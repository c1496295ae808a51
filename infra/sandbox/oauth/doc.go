// Package oauth owns the authorization server of the sandbox EHR: SMART discovery, the sign-in and consent pages, and
// codes, rotating refresh tokens, revocation and introspection, as a patient portal has them.
//
// A portal with switches (package switches) breaks these rules where the switches say so; the wire-level faults, which
// need no knowledge of tokens, are in package sandbox.
//
// It knows personas by id and name only and never looks into a record; package fhirserver serves records and asks
// Access what a bearer token may see. There are no passwords: everybody is invented, so choosing a persona signs in.
// Rules: SMART App Launch 2 (https://hl7.org/fhir/smart-app-launch/app-launch.html), RFC 6749, 7009, 7636, 7662, 9207.
package oauth
