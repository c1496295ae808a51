package connection

// Cause is the reason that a connection is unhealthy. The empty Cause means that the connection is healthy.
type Cause string

// Causes. The first four end a connection.
const (
	CauseDeclined       Cause = "declined"
	CauseDisconnected   Cause = "disconnected"
	CauseAccessEnded    Cause = "access_ended"
	CauseConsentEnded   Cause = "consent_ended"
	CauseRenewalRefused Cause = "renewal_refused"
	CauseRenewalFailing Cause = "renewal_failing"
	CauseNotRenewable   Cause = "not_renewable"
)

// Cause returns why the connection is unhealthy.
func (c Connection) Cause() Cause {
	switch {
	case c.Status == Rejected:
		return CauseDeclined
	case c.Status == Revoked && c.Refresh.Ended == Disconnected:
		return CauseDisconnected
	case c.Status == Revoked && c.Refresh.Ended == AccessEnded:
		return CauseAccessEnded
	case c.Status == Revoked:
		return CauseConsentEnded
	case !c.Refresh.RefusedAt.IsZero():
		return CauseRenewalRefused
	case c.Refresh.Failures > 0:
		return CauseRenewalFailing
	case c.Refresh.Unrenewable:
		return CauseNotRenewable
	}
	return ""
}

// ParseCause parses the name of a cause.
func ParseCause(name string) (Cause, bool) {
	switch c := Cause(name); c {
	case CauseDeclined, CauseDisconnected, CauseAccessEnded, CauseConsentEnded, CauseRenewalRefused,
		CauseRenewalFailing, CauseNotRenewable:
		return c, true
	}
	return "", false
}

// Property is a property by which connections are listed.
type Property struct{ By, Value string }

// Names of properties.
const (
	ByCause    = "CAUSE"
	ByStatus   = "STATUS"
	ByBrand    = "BRAND"
	ByPortal   = "PORTAL"
	ByEndpoint = "ENDPOINT"
)
