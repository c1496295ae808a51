// Package scope owns the SMART App Launch scopes that the sandbox understands: which of the requested ones a person
// can grant, and what a granted set allows.
//
// It knows the words only; who holds which grant is the business of package oauth.
// Syntax: https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html
package scope
