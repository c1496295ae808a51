// Package udap owns the UDAP side of the sandbox EHR, as a facility of a network with facilitated FHIR has it:
// signed metadata, dynamic registration, and tokens for a person whom somebody else's identity provider has verified
// (HL7 Security for Scalable Registration, Authentication, and Authorization STU2; the extension tefca_ias is that
// of a draft, docs/tefca.md).
//
// The trust community is the stack's own: its anchor and the portal's key are made when they are first needed and kept
// in the sandbox's store, so that every instance has the same ones and no other stack has them. Whoever asks gets a
// client certificate: everybody here is invented. It reads JWTs with code of its own, not with what it is asked by
// (shared/tefca/facilitated).
package udap
