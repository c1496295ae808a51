package flow

import (
	"net/url"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/words/timestamp"
)

// succeeded returns the outcome of an attempt that yields a connection.
func succeeded(conn connection.Connection) Ending {
	return Ending{
		ConnectionID: conn.ID, ConnectionStatus: conn.Status, Scope: conn.Scope, ConsentExpiresAt: conn.ConsentExpiresAt,
	}
}

// result returns the fields of an attempt's result (docs/openapi.yaml), including fields that only some EHRs provide.
func result(a Attempt, e Ending) url.Values {
	fields := url.Values{
		"org_connection_id": {e.ConnectionID},
		"endpoint_id":       {a.EndpointID},
		"portal_id":         {a.PortalID},
		"brand_id":          {a.BrandID},
		"connection_status": {string(e.ConnectionStatus)},
		"platform_type":     {a.PlatformType},
		"request_id":        {a.RequestID},
	}
	for name, value := range map[string]string{
		"external_id": a.ExternalID, "external_state": a.ExternalState,
		"scope": e.Scope, "consent_expires_at": timestamp.Of(e.ConsentExpiresAt),
	} {
		if value != "" {
			fields.Set(name, value)
		}
	}
	return fields
}
