package webhook

// A field with omitempty may be absent; every other field is always present, even if empty. docs/asyncapi.yaml states
// which fields TEFCA mode omits or requires.

// DownloadLink holds an export file's download link.
type DownloadLink struct {
	URL         string `json:"url"`
	ExportType  string `json:"export_type"`
	ContentType string `json:"content_type"`
}

// ManifestLink holds the download link of an export's manifest and the manifest's detached signature, an extension
// (docs/guide/manifest.md).
type ManifestLink struct {
	URL       string `json:"url"`
	Signature string `json:"signature"`
}

// Stats counts the resources that an export collected.
type Stats struct {
	TotalResources      int            `json:"total_resources"`
	TotalByResourceType map[string]int `json:"total_by_resource_type"`
}

// ExportSuccess is the data in a patient.ehi_export_success event.
type ExportSuccess struct {
	DownloadLinks   []DownloadLink `json:"download_links"`
	OrgConnectionID string         `json:"org_connection_id"`
	TaskID          string         `json:"task_id"`
	OrgID           string         `json:"org_id"`
	Stats           Stats          `json:"stats"`
	Manifest        *ManifestLink  `json:"manifest,omitempty"`
	// DownloadLink is included only if an operator has enabled it. The specification removed this field in June 2026.
	DownloadLink *DownloadLink `json:"download_link,omitempty"`
	Shortfall                  //nolint:embeddedstructfieldcheck // members are sent in this order
}

// Shortfall describes an incomplete record, using fields that are not part of the specification. The zero value means
// that the record is complete and adds no fields to the event. Complete is never true.
type Shortfall struct {
	Complete *bool `json:"complete,omitempty"`
	// Missing maps each missing resource type to the reason for its absence, as worded in
	// docs/guide/incomplete-records.md.
	Missing map[string]string `json:"missing,omitempty"`
}

// ExportFailure is the data in a patient.ehi_export_failed event.
type ExportFailure struct {
	FailureReason   string `json:"failure_reason"`
	OrgConnectionID string `json:"org_connection_id"`
	TaskID          string `json:"task_id"`
	OrgID           string `json:"org_id"`
}

// Progress counts an export's completed and planned requests.
type Progress struct {
	// QueriesDone is the number of completed requests. Each request is for a list, a resource or an attachment.
	QueriesDone int `json:"queries_done"`
	// QueriesPlanned is the number of completed requests plus the number of remaining requests known so far. The number
	// grows as the export finds references.
	QueriesPlanned int   `json:"queries_planned"`
	Resources      int   `json:"resources"`
	Bytes          int64 `json:"bytes"`
}

// ExportProgress is the data in a patient.ehi_export_progress event, an extension. While an export is running, the
// event is sent at most once every 30 seconds. Events may arrive out of order; the event with the highest sequence is
// the latest.
type ExportProgress struct {
	OrgConnectionID string `json:"org_connection_id"`
	TaskID          string `json:"task_id"`
	OrgID           string `json:"org_id"`
	Sequence        int64  `json:"sequence"` // sequence number, starting at 1
	Progress               //nolint:embeddedstructfieldcheck // members are sent in this order
}

// ConnectionSuccess is the data in a patient.connection_success event.
type ConnectionSuccess struct {
	OrgConnectionID  string `json:"org_connection_id"`
	EndpointID       string `json:"endpoint_id,omitempty"`
	PortalID         string `json:"portal_id,omitempty"`
	BrandID          string `json:"brand_id,omitempty"`
	ConnectionStatus string `json:"connection_status"` // "authorized" or "rejected"
	PlatformType     string `json:"platform_type"`
	RequestID        string `json:"request_id"`
	ExternalID       string `json:"external_id"`    // empty if the attempt had no ID; required by the specification
	ExternalState    string `json:"external_state"` // empty if the attempt had no state; required by the specification
	Scope            string `json:"scope,omitempty"`
	ConsentExpiresAt string `json:"consent_expires_at,omitempty"` // RFC 3339
	TEFCADirectoryID string `json:"tefca_directory_id,omitempty"`
}

// ConnectionFailure is the data in a patient.connection_failed event, an extension. The data contains the fields of the
// widget event of the same name and the recommended action. The event does not exist in TEFCA mode.
type ConnectionFailure struct {
	EndpointID       string `json:"endpoint_id"`
	PortalID         string `json:"portal_id"`
	BrandID          string `json:"brand_id"`
	PlatformType     string `json:"platform_type,omitempty"`
	OrgConnectionID  string `json:"org_connection_id,omitempty"` // set only for a reconnect
	RequestID        string `json:"request_id"`
	ExternalID       string `json:"external_id,omitempty"`
	ExternalState    string `json:"external_state,omitempty"`
	Error            string `json:"error"`
	ErrorDescription string `json:"error_description"`
	Cause            string `json:"cause"`
	SuggestedAction  string `json:"suggested_action"`
}

// AuthorizationRevoked is the data in a patient.authorization_revoked event.
type AuthorizationRevoked struct {
	OrgConnectionID  string `json:"org_connection_id"`
	EndpointID       string `json:"endpoint_id,omitempty"`
	PortalID         string `json:"portal_id,omitempty"`
	BrandID          string `json:"brand_id,omitempty"`
	PlatformType     string `json:"platform_type"`
	ConnectionStatus string `json:"connection_status"` // always "revoked"
}

// AuthorizationExpiring is the data in a patient.authorization_expiring event, an extension.
type AuthorizationExpiring struct {
	OrgConnectionID  string `json:"org_connection_id"`
	EndpointID       string `json:"endpoint_id,omitempty"`
	PortalID         string `json:"portal_id,omitempty"`
	BrandID          string `json:"brand_id,omitempty"`
	PlatformType     string `json:"platform_type"`
	ConsentExpiresAt string `json:"consent_expires_at"` // RFC 3339
	Cause            string `json:"cause"`
	SuggestedAction  string `json:"suggested_action"`
}

// HealthSystemRequest is the data in a patient.request_health_system event. The event reports that the catalogue lacks
// a health system.
type HealthSystemRequest struct {
	Email         string `json:"email"`
	Name          string `json:"name"`
	Website       string `json:"website,omitempty"`
	StreetAddress string `json:"street_address,omitempty"`
}

// SupportRequest is the data in a patient.request_support event. The event is in beta. The event reports that a patient
// needs help while connecting. Body contains the patient's own words, which may include health data.
type SupportRequest struct {
	Email string `json:"email"`
	Name  string `json:"name,omitempty"` // name of the health system
	Body  string `json:"body"`
}

// Test is the data in a webhook.test event.
type Test struct {
	Hello  string `json:"hello"`
	Random string `json:"random"`
}
