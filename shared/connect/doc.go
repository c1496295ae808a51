// Package connect groups the packages that connect patients to organisations.
//
// The packages below import words, fhir, catalog and webhook, and don't depend on AWS or HTTP:
//
//   - binding ties an attempt to a browser and a page, using a start value, a state, a cookie and an attempt token.
//   - connection defines the connection and the operations that its status allows; connection/view renders a connection
//     for its organisation.
//   - flow runs an attempt to connect or reconnect, by redirect or in the widget's page.
//   - platform describes the differences between EHR vendors as data.
//   - refresh refreshes tokens between exports: due times, limits for each token endpoint, revocation, warnings.
//   - requestlog records and searches an organisation's API requests and its patients' sign-in attempts.
//   - tally counts sign-ins by outcome.
//   - tokens seals, leases and refreshes token sets, and classifies refusals.
package connect
