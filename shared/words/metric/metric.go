// Package metric defines the service's metrics: what each counts or measures, its unit, and its dimension. A dimension
// has a short list of fixed words, never an organisation, a patient or a health system, because CloudWatch stores and
// bills each value separately. A metric is emitted as a log line in CloudWatch's embedded metric format, so functions
// make no extra call (docs/adr/0020-metrics-and-traces.md).
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
package metric

// Namespace is the CloudWatch namespace of all metrics.
const Namespace = "Recordbridge"

// Stack is the dimension that all metrics share, and the log line key that names the stack.
const Stack = "service"

// Name identifies a metric.
type Name string

// The metrics.
const (
	Exports         Name = "Exports"         // by stage: started, success, partial or failed
	ExportSeconds   Name = "ExportSeconds"   // time from the request to the stage, by stage
	ExportFailures  Name = "ExportFailures"  // failed exports, by the reason given to the organisation
	WebhookAttempts Name = "WebhookAttempts" // by outcome: delivered or the class of failure
	WebhookSeconds  Name = "WebhookSeconds"  // response time of receivers
	DeliverySeconds Name = "DeliverySeconds" // age of an event at its first delivery attempt
	WebhooksStopped Name = "WebhooksStopped" // disabled webhooks, by reason
	Refreshes       Name = "Refreshes"       // token refreshes between exports, by outcome
	Revocations     Name = "Revocations"     // ended connections, by cause
	// delay of the most overdue row, by kind of row and in total
	OverdueSeconds Name = "OverdueSeconds"
	Limited        Name = "Limited"      // requests beyond a rate limit, by the limit
	PortalsMoved   Name = "PortalsMoved" // discoveries that named unapproved servers
	Lists          Name = "Lists"        // fetches of published lists, by outcome
	// waiting time of the oldest list or publication that needs an operator's approval
	ApprovalSeconds Name = "ApprovalSeconds"
	// failed reads of the live catalogue, served from an older copy or not at all
	StaleCatalogues Name = "StaleCatalogues"
	Probes          Name = "Probes" // of the catalogue's endpoints, by outcome: well, failed or limited
	// calls throttled by an AWS service, by service; each try counts
	Throttled  Name = "Throttled"
	Unanswered Name = "Unanswered" // calls that an AWS service failed to answer, by service; each try counts
)

// Names returns all metrics.
func Names() []Name {
	return []Name{
		Exports, ExportSeconds, ExportFailures, WebhookAttempts, WebhookSeconds, DeliverySeconds, WebhooksStopped,
		Refreshes, Revocations, OverdueSeconds, Limited, PortalsMoved, Lists, ApprovalSeconds, StaleCatalogues, Probes,
		Throttled, Unanswered,
	}
}

// Dimension returns the metric's dimension besides the stack, or "" if it has none.
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

// isMeasured reports whether the metric measures seconds rather than counts.
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

// hasTotal reports whether the metric is also recorded for the stack in total. That is needed if it has an alarm and
// the total cannot be computed from its parts.
func (n Name) hasTotal() bool { return n == OverdueSeconds }
