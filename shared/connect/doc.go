// Package connect contains the packages for connections between patients and organisations, from the first click to the
// tokens.
//
// It imports words, fhir, catalog and webhook. It depends on neither AWS nor HTTP. Its packages:
//
//   - binding ties an attempt to a browser and a page: start value, state, cookie, attempt token.
//   - connection holds the connection and the operations that its status allows; connection/view is its record for
//     organisations.
//   - flow runs one connect attempt, by redirect or in our page, new or as a reconnect.
//   - platform holds the differences between EHR vendors, as data.
//   - refresh keeps tokens alive between exports: due times, limits for each token endpoint, revocation, warnings.
//   - tokens seals, leases and refreshes token sets, and classifies refusals.
package connect
