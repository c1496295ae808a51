// Package tefca owns the words of TEFCA mode (docs/guide/tefca.md): a person whose identity a provider has verified, the
// facilities of a network that hold the person's records, and what a network is asked (ADR 38).
//
// The room imports words, fhir, catalog, webhook, connect and export, and from platform safehttp. Only ihe, facilitated
// and identity/oidc know HTTP. Its packages:
//
//   - attempt runs one verification, and locates and connects records with it; attempt/view renders it.
//   - facilitated asks a network of facilities by FHIR; facilitated/udap authenticates there.
//   - fetch merges a facility's documents into one record.
//   - identity judges what an identity provider asserts; identity/oidc is the relying party.
//   - ihe asks a network by XCPD and XCA.
//   - joint asks several networks as one.
//   - people holds the synthetic patients.
//   - records caches what was fetched for a connection.
//   - sim simulates a network and its documents.
package tefca
