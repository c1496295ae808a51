// Package tefca owns the vocabulary of TEFCA mode (docs/guide/tefca.md): a person whose identity a provider has
// verified, the facilities of a network that hold the person's records, and the requests to a network (ADR 38).
//
// The packages in this directory import words, fhir, catalog, webhook, connect and export, and from platform safehttp.
// Only ihe, facilitated and identity/oidc use HTTP. They are:
//
//   - attempt runs one verification, and locates and connects records with it; attempt/view renders it.
//   - facilitated queries a network of FHIR facilities; facilitated/udap authenticates there.
//   - fetch merges a facility's documents into one record.
//   - identity validates the claims of an identity provider; identity/oidc is the relying party.
//   - ihe queries a network by XCPD and XCA.
//   - joint combines several networks into one.
//   - people holds the synthetic patients.
//   - records caches the data fetched for a connection.
//   - sim simulates a network and its documents.
package tefca
