package webhook

import "slices"

// Choice states whether subscriptions receive an event type (docs/reference/deviations.md, Webhooks).
type Choice string

// Choices for an event type.
const (
	Locked      Choice = "required" // every subscription receives events of this type and can't opt out of them
	OnByDefault Choice = "on"       // a new subscription receives the type unless its owner opts out
	OptIn       Choice = "opt-in"   // a subscription receives the type only if its owner opts in
)

// Kind describes an event type.
type Kind struct {
	Type    Type
	Title   string
	When    string // one-sentence description of the event that the type reports
	Default Choice
	// Extension marks a type as an extension in docs/guide/webhook-reference.md. Extensions are always opt-in, so
	// receivers that don't support an extension never receive its events.
	Extension bool
	Example   any // example of the event's data; see Example
}

// Catalogue returns every event type (docs/guide/webhook-reference.md, Events). Extensions are last.
func Catalogue() []Kind {
	return slices.Concat(exportKinds(), patientKinds(), connectionKinds(), extensions())
}

// ParseType parses the name of an event type. ok is false for an unknown type.
func ParseType(text string) (Type, bool) {
	kind, ok := kindOf(Type(text))
	return kind.Type, ok
}

// Required returns the types that every subscription receives and can't remove (docs/reference/deviations.md,
// Webhooks).
func Required() []Type { return typesOf(Locked) }

// Default returns the optional types that a new subscription receives unless its owner chooses other types.
func Default() []Type { return typesOf(OnByDefault) }

// Example returns synthetic data for an event of type t. The data includes every field that exists outside TEFCA mode,
// except deprecated ones. The data is for documentation and receiver tests, and is recognisably synthetic. Example
// returns nil for an unknown type.
func Example(t Type) any {
	kind, _ := kindOf(t)
	return kind.Example
}

func kindOf(t Type) (Kind, bool) {
	all := Catalogue()
	i := slices.IndexFunc(all, func(k Kind) bool { return k.Type == t })
	if i < 0 {
		return Kind{}, false
	}
	return all[i], true
}

func typesOf(choice Choice) []Type {
	var types []Type
	for _, k := range Catalogue() {
		if k.Default == choice {
			types = append(types, k.Type)
		}
	}
	return types
}

// Values for examples, recognisably synthetic.
const (
	exampleConnection = "00000000-0000-4000-8000-00000000c0de"
	exampleOrg        = "00000000-0000-4000-8000-000000000001"
	exampleEndpoint   = "00000000-0000-4000-8000-000000000002"
	examplePortal     = "00000000-0000-4000-8000-000000000003"
	exampleBrand      = "00000000-0000-4000-8000-000000000004"
	exampleRequest    = "00000000-0000-4000-8000-000000000005"
	exampleTask       = "00000000000040008000000000000006"
	examplePlatform   = "sandbox"
	exampleExternalID = "example-patient"
	exampleState      = "example-visit"
	exampleEmail      = "patient@example.com"
	exampleSystem     = "Example Hospital"
	exampleConsentEnd = "2030-01-08T00:00:00Z"
	exampleAction     = "This is an example of an action."
)

func exportKinds() []Kind {
	const files = "https://api.example.com/v1/bridge/fhir/ehi-export/" + exampleTask + "/download/"
	link := DownloadLink{
		URL: files + exampleTask + ".jsonl?token=example", ExportType: "jsonl", ContentType: "application/fhir+ndjson",
	}
	return []Kind{
		{
			Type: ExportSucceeded, Title: "Export ready", Default: Locked,
			When: "An export succeeded, or its success event is resent.",
			Example: ExportSuccess{
				DownloadLinks: []DownloadLink{link}, OrgConnectionID: exampleConnection, TaskID: exampleTask, OrgID: exampleOrg,
				Stats: Stats{TotalResources: 3, TotalByResourceType: map[string]int{"Patient": 1, "Observation": 2}},
				Manifest: &ManifestLink{
					URL: files + "manifest.json?token=example", Signature: "eyJhbGciOiJFUzM4NCJ9..example",
				},
			},
		},
		{
			Type: ExportFailed, Title: "Export failed", Default: Locked,
			When: "An export failed.",
			Example: ExportFailure{
				FailureReason: "suppressed_please_contact", OrgConnectionID: exampleConnection, TaskID: exampleTask,
				OrgID: exampleOrg,
			},
		},
		{
			Type: TestEvent, Title: "Test", Default: Locked,
			When:    "Someone sends a test event.",
			Example: Test{Hello: "world", Random: "00000000000000000000000000000000"},
		},
	}
}

func patientKinds() []Kind {
	return []Kind{
		{
			Type: HealthSystemRequested, Title: "Health system requested", Default: OnByDefault,
			When: "A patient reports that a health system is missing.",
			Example: HealthSystemRequest{
				Email: exampleEmail, Name: exampleSystem, Website: "https://hospital.example", StreetAddress: "1 Example Street",
			},
		},
		{
			Type: SupportRequested, Title: "Support requested (beta)", Default: OnByDefault,
			When:    "A patient asks for help while connecting.",
			Example: SupportRequest{Email: exampleEmail, Name: exampleSystem, Body: "This is an example of a question."},
		},
	}
}

func connectionKinds() []Kind {
	return []Kind{
		{
			Type: ConnectionSucceeded, Title: "Connected", Default: OptIn,
			When: "A patient connected or reconnected, or declined at the portal on the first attempt.",
			Example: ConnectionSuccess{
				OrgConnectionID: exampleConnection, EndpointID: exampleEndpoint, PortalID: examplePortal, BrandID: exampleBrand,
				ConnectionStatus: "authorized", PlatformType: examplePlatform, RequestID: exampleRequest,
				ExternalID:    exampleExternalID,
				ExternalState: exampleState, Scope: "patient/*.read", ConsentExpiresAt: exampleConsentEnd,
			},
		},
		{
			Type: AuthorizationEnded, Title: "Authorisation ended", Default: OptIn,
			When: "A portal refused the refresh token because consent was withdrawn or has expired. Not sent when " +
				"the organisation revokes the connection.",
			Example: AuthorizationRevoked{
				OrgConnectionID: exampleConnection, EndpointID: exampleEndpoint, PortalID: examplePortal, BrandID: exampleBrand,
				PlatformType: examplePlatform, ConnectionStatus: "revoked",
			},
		},
	}
}

func extensions() []Kind {
	return []Kind{
		{
			Type: ConnectionFailed, Title: "Connecting failed", Default: OptIn, Extension: true,
			When: "A patient returned from the portal, but the attempt failed. Not sent when a patient declines.",
			Example: ConnectionFailure{
				EndpointID: exampleEndpoint, PortalID: examplePortal, BrandID: exampleBrand, PlatformType: examplePlatform,
				OrgConnectionID: exampleConnection, RequestID: exampleRequest, ExternalID: exampleExternalID,
				ExternalState: exampleState,
				Error:         "svc_token_exchange", ErrorDescription: "This is an example of an error.", Cause: "no_answer",
				SuggestedAction: exampleAction,
			},
		},
		{
			Type: ExportProgressed, Title: "Export running", Default: OptIn, Extension: true,
			When: "A running export made progress. Not sent in its first 20 seconds, and then at most every 30 " +
				"seconds.",
			Example: ExportProgress{
				OrgConnectionID: exampleConnection, TaskID: exampleTask, OrgID: exampleOrg, Sequence: 1,
				Progress: Progress{QueriesDone: 2, QueriesPlanned: 9, Resources: 3, Bytes: 4096},
			},
		},
		{
			Type: AuthorizationEnding, Title: "Authorisation expires soon", Default: OptIn, Extension: true,
			When: "Consent will expire in 7 days, according to the portal.",
			Example: AuthorizationExpiring{
				OrgConnectionID: exampleConnection, EndpointID: exampleEndpoint, PortalID: examplePortal, BrandID: exampleBrand,
				PlatformType: examplePlatform, ConsentExpiresAt: exampleConsentEnd, Cause: "consent_expires",
				SuggestedAction: exampleAction,
			},
		},
	}
}
