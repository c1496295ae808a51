package webhook

// DownloadLink is where a file of an export is (spec section 2.3).
type DownloadLink struct {
	URL         string `json:"url"`
	ExportType  string `json:"export_type"`
	ContentType string `json:"content_type"`
}

// Stats counts what an export collected (spec section 2.4).
type Stats struct {
	TotalResources      int            `json:"total_resources"`
	TotalByResourceType map[string]int `json:"total_by_resource_type"`
}

// ExportSuccess is the data of patient.ehi_export_success.
type ExportSuccess struct {
	DownloadLinks   []DownloadLink `json:"download_links"`
	OrgConnectionID string         `json:"org_connection_id"`
	TaskID          string         `json:"task_id"`
	OrgID           string         `json:"org_id"`
	Stats           Stats          `json:"stats"`
	DownloadLink    *DownloadLink  `json:"download_link,omitempty"` // deprecated (spec section 9.3)
}

// ExportFailure is the data of patient.ehi_export_failed.
type ExportFailure struct {
	FailureReason   string `json:"failure_reason"`
	OrgConnectionID string `json:"org_connection_id"`
	TaskID          string `json:"task_id"`
	OrgID           string `json:"org_id"`
}

// Progress is how far an export has come.
type Progress struct {
	QueriesDone    int   `json:"queries_done"`    // requests for a list, a resource or an attachment that have been answered
	QueriesPlanned int   `json:"queries_planned"` // those, and what is known to be left; it grows while references are found
	Resources      int   `json:"resources"`
	Bytes          int64 `json:"bytes"`
}

// ExportProgress is the data of patient.ehi_export_progress, an extension: sent at most every 30 seconds while an export
// is running. Events may overtake one another; the one of the highest sequence is the latest.
type ExportProgress struct {
	OrgConnectionID string `json:"org_connection_id"`
	TaskID          string `json:"task_id"`
	OrgID           string `json:"org_id"`
	Sequence        int64  `json:"sequence"` // from 1
	Progress
}

// ConnectionSuccess is the data of patient.connection_success.
type ConnectionSuccess struct {
	OrgConnectionID  string `json:"org_connection_id"`
	EndpointID       string `json:"endpoint_id"`
	PortalID         string `json:"portal_id"`
	BrandID          string `json:"brand_id"`
	ConnectionStatus string `json:"connection_status"`
	PlatformType     string `json:"platform_type"`
	RequestID        string `json:"request_id"`
	ExternalID       string `json:"external_id,omitempty"`
	ExternalState    string `json:"external_state,omitempty"`
	Scope            string `json:"scope,omitempty"`
	ConsentExpiresAt string `json:"consent_expires_at,omitempty"`
}

// ConnectionFailure is the data of patient.connection_failed, an extension: the fields of the widget event of that name
// (spec section 6.1), and what to do about it.
type ConnectionFailure struct {
	EndpointID       string `json:"endpoint_id"`
	PortalID         string `json:"portal_id"`
	BrandID          string `json:"brand_id"`
	PlatformType     string `json:"platform_type,omitempty"`
	OrgConnectionID  string `json:"org_connection_id,omitempty"` // of a reconnect
	RequestID        string `json:"request_id"`
	ExternalID       string `json:"external_id,omitempty"`
	ExternalState    string `json:"external_state,omitempty"`
	Error            string `json:"error"`
	ErrorDescription string `json:"error_description"`
	Cause            string `json:"cause"`
	SuggestedAction  string `json:"suggested_action"`
}

// AuthorizationRevoked is the data of patient.authorization_revoked.
type AuthorizationRevoked struct {
	OrgConnectionID  string `json:"org_connection_id"`
	EndpointID       string `json:"endpoint_id"`
	PortalID         string `json:"portal_id"`
	BrandID          string `json:"brand_id,omitempty"`
	PlatformType     string `json:"platform_type"`
	ConnectionStatus string `json:"connection_status"` // always "revoked"
}

// AuthorizationExpiring is the data of patient.authorization_expiring, an extension.
type AuthorizationExpiring struct {
	OrgConnectionID  string `json:"org_connection_id"`
	EndpointID       string `json:"endpoint_id"`
	PortalID         string `json:"portal_id"`
	BrandID          string `json:"brand_id,omitempty"`
	PlatformType     string `json:"platform_type"`
	ConsentExpiresAt string `json:"consent_expires_at"` // RFC 3339
	Cause            string `json:"cause"`
	SuggestedAction  string `json:"suggested_action"`
}

// Test is the data of webhook.test.
type Test struct {
	Hello  string `json:"hello"`
	Random string `json:"random"`
}
