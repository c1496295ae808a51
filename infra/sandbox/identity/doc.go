// Package identity owns the simulated identity provider of TEFCA mode (docs/tefca.md, "Identity"), at
// /sandbox/identity: OpenID Connect with pushed requests and PKCE, for the synthetic patients of shared/tefca/people.
// Nobody is verified: whoever opens the page picks who they are. Called by the patient's browser (authorize) and by our
// relying party (the rest).
//
// The page lets a tester choose what the id_token looks like (shapes) and what is wrong with it (faults), so
// that every way in which a verification ends can be seen. Rules: OpenID Connect Core 1.0 and Discovery 1.0,
// RFC 6749, 7636, 9126, 9207.
package identity
