// Package webhook delivers events to customers. The package defines the events and their payloads, the subscriptions,
// the deliveries with their attempts, the retry schedule and the signature. Code that emits an event only writes the
// event's row; the worker creates the deliveries (docs/develop/lifecycles.md).
//
// The package and its subpackages import words and, from platform, maillimit and mailtext. They do not depend on AWS or
// HTTP. The subpackages:
//
// - deliverylog searches deliveries and shows a delivery with its attempts.
// - eventlog reads a tenant's events.
// - notice sends email to an organisation about its webhooks and credentials.
package webhook
