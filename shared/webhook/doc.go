// Package webhook owns the delivery of facts to customers: the events and their payloads, the subscriptions, the
// deliveries with their attempts, the schedule and the signature. Code that causes an event only writes its row; the
// worker fans it out (docs/develop/lifecycles.md).
//
// The package and its subpackages import words, and from platform maillimit and mailtext. They depend on no AWS and no
// HTTP. The subpackages:
//
//   - deliverylog searches deliveries and shows one with its attempts.
//   - eventlog reads a tenant's events.
//   - notice e-mails an organisation about its webhooks and credentials.
package webhook
