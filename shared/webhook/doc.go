// Package webhook delivers events to customers. It defines the events and their payloads, the subscriptions, the
// deliveries with their attempts, the schedule and the signature. Code that causes an event only writes its row; the
// worker creates the deliveries (docs/develop/lifecycles.md).
//
// The package and its subpackages import words, and from platform maillimit and mailtext. They do not depend on AWS or
// HTTP. The subpackages:
//
// - deliverylog searches deliveries and shows one with its attempts.
// - eventlog reads a tenant's events.
// - notice sends email to an organisation about its webhooks and credentials.
package webhook
