// Package metric defines the service's metrics: their names, units and dimensions. CloudWatch stores and bills each
// value of a dimension separately. A dimension therefore has few values, none of which names an organisation, a patient
// or a health system. Metrics are written as log lines in CloudWatch's embedded metric format, so functions need no
// additional calls (docs/adr/0020-metrics-and-traces.md).
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
package metric

// Namespace is the CloudWatch namespace of all metrics.
const Namespace = "Recordbridge"

// Stack is the dimension shared by all metrics, and the log key for the stack's name.
const Stack = "service"

// Name identifies a metric.
type Name string

// Names of the metrics.
const (
	Exports         Name = "Exports"         // exports by stage: started, success, partial or failed
	ExportSeconds   Name = "ExportSeconds"   // time since the request, by the stage reached
	ExportFailures  Name = "ExportFailures"  // failed exports, by the reason reported to the organisation
	WebhookAttempts Name = "WebhookAttempts" // attempts by outcome: delivered, or the class of failure
	WebhookSeconds  Name = "WebhookSeconds"  // receivers' response times
	DeliverySeconds Name = "DeliverySeconds" // age of an event at its first delivery attempt
	WebhooksStopped Name = "WebhooksStopped" // disabled webhooks, by reason
	Refreshes       Name = "Refreshes"       // token refreshes between exports, by outcome
	Revocations     Name = "Revocations"     // connections that ended, by cause
	SignIns         Name = "SignIns"         // sign-ins by outcome: started, connected, or the party that caused a failure
	// delay of the most overdue row, per kind of row and overall
	OverdueSeconds Name = "OverdueSeconds"
	Limited        Name = "Limited"      // requests over a rate limit, by limit
	PortalsMoved   Name = "PortalsMoved" // discovery documents that named unapproved servers
	Lists          Name = "Lists"        // fetches of published lists of institutions, by outcome
	// age of the oldest list or publication that awaits an operator's approval
	ApprovalSeconds Name = "ApprovalSeconds"
	// StaleCatalogues counts failed reads of the live catalogue, including those for which an older copy was served.
	StaleCatalogues Name = "StaleCatalogues"
	Probes          Name = "Probes" // probes of the catalogue's endpoints, by outcome: well, failed or limited
	// calls that an AWS service throttled, by service; each attempt counts
	Throttled  Name = "Throttled"
	Unanswered Name = "Unanswered" // calls that an AWS service failed or denied, by service; each attempt counts
	// Unlogged counts requests and sign-in attempts that could not be written to the request log.
	Unlogged Name = "Unlogged"
)

// Names returns the names of all metrics.
func Names() []Name {
	return []Name{
		Exports, ExportSeconds, ExportFailures, WebhookAttempts, WebhookSeconds, DeliverySeconds, WebhooksStopped,
		Refreshes, Revocations, OverdueSeconds, Limited, PortalsMoved, Lists, ApprovalSeconds, StaleCatalogues, Probes,
		Throttled, Unanswered, Unlogged, SignIns,
	}
}

// Dimension returns the metric's only dimension apart from the stack. It returns "" if the metric has no other
// dimension.
func (n Name) Dimension() string {
	switch n {
	case Exports, ExportSeconds, WebhookAttempts, Refreshes, Lists, Probes, SignIns:
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
	case WebhookSeconds, DeliverySeconds, PortalsMoved, ApprovalSeconds, StaleCatalogues, Unlogged:
	}
	return ""
}

// isMeasured reports whether the metric measures seconds rather than counting events.
func (n Name) isMeasured() bool {
	switch n {
	case ExportSeconds, WebhookSeconds, DeliverySeconds, OverdueSeconds, ApprovalSeconds:
		return true
	case Exports, ExportFailures, WebhookAttempts, WebhooksStopped, Refreshes, Revocations, Limited, PortalsMoved, Lists,
		StaleCatalogues, Probes, Throttled, Unanswered, Unlogged, SignIns:
	}
	return false
}

// hasTotal reports whether the metric is also recorded without its dimension, as a total for the stack. A metric needs
// a separate total if it has an alarm and the total can't be computed from its values by dimension.
func (n Name) hasTotal() bool { return n == OverdueSeconds }
