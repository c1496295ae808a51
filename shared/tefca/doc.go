// Package tefca defines the types of TEFCA mode (docs/guide/tefca.md). The types represent a person with a verified
// identity, the facilities that hold the person's records, and the interface to a network (ADR 38).
//
// The packages in this directory import words, fhir, catalog, webhook, connect and export, and safehttp from platform.
// Only ihe, facilitated and identity/oidc use HTTP. The packages are:
//
//   - attempt runs a verification, and locates and connects records with the verified identity; attempt/view renders
//     attempts.
//   - facilitated queries a network of FHIR facilities; facilitated/udap authenticates to them.
//   - fetch merges a facility's documents into one record.
//   - identity validates an identity provider's claims; identity/oidc is the relying party.
//   - ihe queries a network with XCPD and XCA.
//   - joint combines several networks into one.
//   - people provides the synthetic patients.
//   - records stores the data fetched for a connection.
//   - sim simulates a network and its documents.
package tefca
