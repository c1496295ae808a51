// Package metric owns which metrics the service has: what each counts or measures, in which unit, and by what it is
// told apart. That is a short list of words of ours, never an organisation, a patient or a health system: CloudWatch
// keeps and bills every value apart. A metric leaves as a log line in CloudWatch's embedded metric format, so that no
// function has to ask anybody (docs/adr/0020-metrics-and-traces.md).
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
package metric

// Namespace is CloudWatch's for all of them.
const Namespace = "Recordbridge"

// Stack is the dimension that all of them have, and the key of every log line: which stack it is.
const Stack = "service"

// Name is a metric.
type Name string

// The metrics.
const (
	Exports         Name = "Exports"         // by how far they came: started, success, partial or failed
	ExportSeconds   Name = "ExportSeconds"   // by the same: from the request to the end
	ExportFailures  Name = "ExportFailures"  // failed ones by the reason that the organisation is told
	WebhookAttempts Name = "WebhookAttempts" // by what came of them: delivered or the class of failure
	WebhookSeconds  Name = "WebhookSeconds"  // how long receivers took to answer
	DeliverySeconds Name = "DeliverySeconds" // how old an event was at the first attempt to deliver it
	WebhooksStopped Name = "WebhooksStopped" // webhooks that were disabled, by the reason
	Refreshes       Name = "Refreshes"       // of tokens between exports, by what came of them
	Revocations     Name = "Revocations"     // connections that ended, by the cause
	// how late the row is that has been due for longest, by kind of row and of all
	OverdueSeconds Name = "OverdueSeconds"
	Limited        Name = "Limited"      // requests beyond a rate limit, by the limit
	PortalsMoved   Name = "PortalsMoved" // discoveries that named servers which nobody has approved
	Lists          Name = "Lists"        // readings of published lists, by what came of them
	// how long what waits longest for an operator's approval has waited: a list, or a publication
	ApprovalSeconds Name = "ApprovalSeconds"
	// readings of the live catalogue that failed: an older one was answered from, or none
	StaleCatalogues Name = "StaleCatalogues"
	Probes          Name = "Probes" // of the catalogue's endpoints, by what came of them: well, failed or limited
	// calls that a service of AWS refused because of their number, by the service; each try counts
	Throttled  Name = "Throttled"
	Unanswered Name = "Unanswered" // calls that a service of AWS failed at, by the service; each try counts
)

// Names are all metrics.
func Names() []Name {
	return []Name{
		Exports, ExportSeconds, ExportFailures, WebhookAttempts, WebhookSeconds, DeliverySeconds, WebhooksStopped,
		Refreshes, Revocations, OverdueSeconds, Limited, PortalsMoved, Lists, ApprovalSeconds, StaleCatalogues, Probes,
		Throttled, Unanswered,
	}
}

// Dimension is what the values of a metric are told apart by beside the stack; "" for nothing.
func (n Name) Dimension() string {
	switch n {
	case Exports, ExportSeconds, WebhookAttempts, Refreshes, Lists, Probes:
		return "outcome"
	case ExportFailures, WebhooksStopped:
		return "reason"
	case Revocations:
		return "ended"
	case OverdueSeconds:
		return "kind"
	case Limited:
		return "limit"
	case Throttled, Unanswered:
		return "dependency"
	case WebhookSeconds, DeliverySeconds, PortalsMoved, ApprovalSeconds, StaleCatalogues:
	}
	return ""
}

// isMeasured tells metrics of seconds from those that count.
func (n Name) isMeasured() bool {
	switch n {
	case ExportSeconds, WebhookSeconds, DeliverySeconds, OverdueSeconds, ApprovalSeconds:
		return true
	case Exports, ExportFailures, WebhookAttempts, WebhooksStopped, Refreshes, Revocations, Limited, PortalsMoved, Lists,
		StaleCatalogues, Probes, Throttled,
		Unanswered:
	}
	return false
}

// hasTotal tells whether a metric is also there for the stack as a whole: what cannot be found again from its
// parts, and has an alarm.
func (n Name) hasTotal() bool { return n == OverdueSeconds }
