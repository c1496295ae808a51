package exporttest_test

import (
	"slices"

	"recordbridge/infra/sandbox/switches"
	"recordbridge/shared/export"
)

// ending is an export's expected result.
type ending int

const (
	whole  ending = iota // the file contains the complete record
	partly               // data may be missing, but must be reported as missing
	fails                // the task fails with the case's reason
)

// expectation is the expected result of an export with a set of switches. The set contains the switch under test and
// its prerequisites.
type expectation struct {
	set      string
	ending   ending
	reason   export.Reason // failure reason if ending equals fails
	loses    []string      // resource types with missing data if ending equals partly
	only     []string      // personas to test; empty means all
	platform string        // platform whose profile the export uses; empty for the generic profile
	known    bool          // whether to store the properties discovered about the server
	heavy    bool          // whether the export takes seconds and therefore runs only in soak tests
}

// notSeenHere lists the authorization server's switches that prevent an export from starting or affect how tokens are
// issued. Exports use only the token set, so these switches can't affect them. The listed switches are covered by the
// tests of shared/adapters/smart and infra/test/e2e.
func notSeenHere() []string {
	return []string{
		switches.NoPatient, switches.PatientUnnamed, switches.PatientFHIRUser, switches.PatientJWT, switches.PatientUserinfo,
		switches.ExpiresIn,
		switches.RefreshLifetime, switches.RefreshNeedsScope, switches.TellExpiry, switches.DiscoveryRelative,
		switches.DiscoveryMissing, switches.DiscoveryHTML, switches.DiscoveryNoS256, switches.OmitEndpoint,
		switches.TokenMoves, switches.Hostile, switches.Aud, switches.NonceRequired, switches.Fragment, switches.Issuer,
		switches.AuthorizeError, switches.HTTPSRedirect, switches.Scopes, switches.QueryLimit, switches.IDToken,
		switches.RevokeFails,
		switches.IntrospectFails, switches.IntrospectBearer, switches.RequireScope, switches.ClientAuth,
		switches.ClientSecret, switches.BasicRaw, switches.ClientKeys, switches.UDAP, switches.UnknownCode500,
		switches.Client401,
	}
}

// expectations returns the expected results for every switch that affects an export. The tests fail if a switch is
// listed in neither expectations nor notSeenHere.
func expectations() map[string][]expectation {
	all := map[string][]expectation{}
	for _, part := range []map[string][]expectation{survivable(), vendors(), refusing(), hurting(), tokenLife()} {
		for name, list := range part {
			all[name] = append(all[name], list...)
		}
	}
	return all
}

// unchangedFile returns expectations for switches that need no other settings and don't change the file.
func unchangedFile(sets ...string) []expectation {
	list := make([]expectation, 0, len(sets))
	for _, set := range sets {
		list = append(list, expectation{set: set, ending: whole})
	}
	return list
}

// survivable lists server behaviours that must not affect the exported file.
func survivable() map[string][]expectation {
	return map[string][]expectation{
		switches.OutcomeEntry:   unchangedFile("outcome-entry"),
		switches.SessionNext:    unchangedFile("session-next"),
		switches.CarePlan404:    unchangedFile("careplan-404"),
		switches.Suppressed:     unchangedFile("suppressed-category:laboratory"),
		switches.RejectCount:    unchangedFile("reject-count"),
		switches.Unsupported500: unchangedFile("unsupported-500"),
		switches.Scope401HTML:   unchangedFile("scope-401-html"),
		switches.Unknown404HTML: unchangedFile("unknown-404-html"),
		switches.Missing500:     unchangedFile("missing-ref-500"),
		switches.RateHeaders:    unchangedFile("rate-headers"),
		switches.LimitSeconds:   unchangedFile("limit-seconds:2", "limit-seconds:7"),
		switches.LimitDate:      unchangedFile("limit-date:2", "limit-date:7"),
		switches.LeaveAlone:     unchangedFile("leave-alone:20s", "leave-alone:90s", "leave-alone:1h", "leave-alone:4h"),
		switches.Search503:      unchangedFile("search-503:2", "search-503:3"),
		switches.AbsoluteOwn:    unchangedFile("absolute-ref"),
		switches.NextInternal:   unchangedFile("next-internal", "next-internal,session-next"),
		switches.NextRelative:   unchangedFile("next-relative", "next-relative,session-next"),
		switches.Gateway: unchangedFile("gateway", "gateway,session-next", "gateway,absolute-ref",
			"gateway,attachment-urls"),
		switches.GetPages:         unchangedFile("get-pages", "get-pages,gateway"),
		switches.SearchBy:         unchangedFile("search-by:patient", "search-by:subject"),
		switches.Slow:             unchangedFile("slow:2s", "slow:25s"),
		switches.IDList:           unchangedFile("id-list:ignored", "id-list:half", "id-list:refused"),
		switches.AllTypes:         unchangedFile("all-types"),
		switches.Batch:            unchangedFile("batch:whole", "batch:refused", "batch:empty", "batch:half"),
		switches.Unlisted:         {{set: "unlisted:Claim+ExplanationOfBenefit+Condition+Flag", ending: whole, known: true}},
		switches.UnlistedIncludes: {{set: "unlisted-includes", ending: whole, known: true}},
		switches.BinaryNotJSON:    unchangedFile("binary-not-json"),
		switches.NoTotal:          unchangedFile("no-total"),
		switches.TotalPage:        unchangedFile("total-page"),
		switches.NoProvenance:     unchangedFile("no-provenance"),
		switches.RequireIntent:    unchangedFile("require-intent"),
		switches.RequireDate:      unchangedFile("require-date"),
		switches.AttachmentURLs:   unchangedFile("attachment-urls"),
		switches.DuplicateEntries: unchangedFile("duplicate-entries"),
		switches.InvalidEntry:     unchangedFile("invalid-entry"),
		switches.OtherPatient:     unchangedFile("other-patient", "other-patient,everything"),
		switches.Version:          unchangedFile("version:dstu2", "version:stu3"),
		switches.PageLarge: {
			{set: "page-large:1", ending: whole, only: []string{"juniper-vale"}},
			{set: "page-large:40", ending: whole, only: []string{"juniper-vale"}, heavy: true},
		},
		switches.Everything: {
			{set: "everything", ending: whole},
			{set: "everything,search-503:2,session-next", ending: whole},
			{set: "everything", ending: whole, platform: "meditech"},
			{set: "everything,search-503:2,session-next", ending: whole, platform: "meditech"},
			{set: "no-total", ending: whole, platform: "meditech"},
		},
		switches.Practice: {
			{set: "ah-practice", ending: whole},
			{set: "ah-practice", ending: whole, platform: "athena"},
			// The sandbox profile does not send the practice ID that the server requires.
			{set: "ah-practice", ending: fails, reason: export.ResourcePatientFailure, platform: "sandbox"},
		},
		label: unchangedFile("label:other"),
	}
}

// vendors lists server behaviours described by a vendor's profile. An export that uses the generic profile must
// discover these behaviours.
func vendors() map[string][]expectation {
	as := func(platform string, sets ...string) []expectation {
		list := unchangedFile(sets...)
		for i := range list {
			list[i].platform, list[i].only = platform, paged
		}
		return list
	}
	return map[string][]expectation{
		switches.OutcomeEntry: as("epic", "outcome-entry"),
		switches.SessionNext:  as("epic", "session-next"),
		switches.TotalPage:    as("epic", "total-page"),
		switches.Suppressed:   as("epic", "suppressed-category:laboratory"),
		switches.RequireCategory: slices.Concat(as("epic", "require-category"), as("nextgen", "require-category"),
			as("eclinicalworks", "require-category")),
		switches.CarePlan404:    as("nextgen", "careplan-404"),
		switches.RejectCount:    as("eclinicalworks", "reject-count"),
		switches.Unsupported500: as("drchrono", "unsupported-500"),
		switches.Scope401HTML:   as("healthit", "scope-401-html"), //nolint:misspell // that is its name
		switches.Missing500:     as("cigna", "missing-ref-500"),
		switches.RequireIntent:  as("athena", "require-intent"),
		switches.NoProvenance:   as("athena", "no-provenance"),
		switches.RequireDate:    as("cerner", "require-date"),
	}
}

// refusing lists servers that withhold parts of the record.
func refusing() map[string][]expectation {
	denied := func(name string) []expectation {
		return []expectation{
			{set: name + ":Observation", ending: partly, loses: []string{"Observation"}, only: paged},
			{set: name + ":Practitioner+Provenance", ending: partly, loses: []string{"Practitioner"}, only: paged},
			{set: name + ":Binary", ending: partly, loses: []string{"Binary"}, only: paged},
			{set: name + ":Patient", ending: fails, reason: export.ResourcePatientFailure, only: small},
			{set: name + ":*", ending: fails, reason: export.ResourcePatientFailure, only: small},
		}
	}
	all := map[string][]expectation{
		switches.Deny: denied("deny"), switches.DenyUser: denied("deny-user"), switches.Deny500: denied("deny-500"),
		switches.Deny401HTML: denied("deny-401-html"), switches.Deny403HTML: denied("deny-403-html"),
		switches.RequireCategory: {
			{set: "require-category", ending: whole, only: paged},
			// One Observation has no category, so the export can't request it. The outcome reports that Observations
			// may be missing.
			{set: "require-category", ending: partly, loses: []string{"Observation"}, only: unusual},
		},
		switches.PatientByID: {
			// If the server supports no other suitable parameter, the export searches Patient by _id.
			{set: "patient-by-id", ending: whole, only: small},
		},
		switches.GrantOnly: {
			{set: "grant-only:Patient+Condition+Practitioner", ending: partly, loses: []string{"Encounter"}, only: small},
			{set: "grant-only:Observation", ending: fails, reason: export.ScopePatientMissing, only: small},
			{set: "grant-only:Patient+Observation,scope-401-html", ending: partly, loses: []string{"Condition"}, only: small},
		},
		switches.NoPatientScope: {{set: "no-patient-scope", ending: fails, reason: export.ScopePatientMissing, only: small}},
	}
	all[switches.Suppressed] = []expectation{{
		set: "suppressed-category:vital-signs,require-category", ending: partly, loses: []string{"Observation"}, only: paged,
	}}
	all[switches.LimitSeconds] = []expectation{{
		set: "limit-seconds:1", ending: fails,
		reason: export.ResourcePatientFailure, only: small,
	}}
	// The server requests a delay that extends beyond the export's deadline. The export must honour the requested delay
	// and therefore fail.
	all[switches.LeaveAlone] = []expectation{{
		set: "leave-alone:7h", ending: fails, reason: export.SuppressedPleaseContact,
		only: small,
	}}
	all[switches.Search503] = []expectation{{
		set: "search-503:1", ending: fails, reason: export.SuppressedPleaseContact,
		only: small,
	}}
	all[switches.Slow] = []expectation{{
		set: "slow:45s", ending: fails, reason: export.ResourcePatientFailure,
		only: small,
	}}
	return all
}

// hurting lists servers that send broken, foreign or hostile responses.
func hurting() map[string][]expectation {
	const content = export.ResourceInvalidContent
	return map[string][]expectation{
		// Data on a third-party server does not belong to the exported record. The outcome reports third-party servers'
		// data as missing.
		switches.ForeignReference: {{set: "foreign-ref", ending: partly, loses: []string{"Location", "Organization"}}},
		switches.NextForeign: {
			{set: "next-foreign", ending: whole, only: paged}, // the export requests a larger first page
			{set: "next-foreign,reject-count", ending: partly, loses: []string{"Observation"}, only: paged},
		},
		switches.NextLoop:      {{set: "next-loop", ending: partly, loses: []string{"Observation"}, only: paged}},
		switches.TruncatedJSON: {{set: "truncated-json", ending: fails, reason: content}},
		switches.DeepJSON:      {{set: "deep-json", ending: fails, reason: content}},
		switches.InvalidUTF8:   {{set: "invalid-utf8", ending: fails, reason: content}},
		switches.GzipBomb: {{
			set: "gzip-bomb,grant-only:Patient+Condition", ending: fails, reason: content, only: small,
			heavy: true,
		}},
		switches.BrokenJSON: {
			{set: "broken-json:Observation", ending: partly, loses: []string{"Observation"}, only: paged},
			{set: "broken-json:*", ending: fails, reason: content, only: paged},
			{set: "broken-json:Condition,grant-only:Patient+Condition+Encounter", ending: fails, reason: content, only: small},
			{
				set: "broken-json:Condition,grant-only:Patient+Condition+Encounter+Goal", ending: partly,
				loses: []string{"Condition"}, only: small,
			},
		},
		switches.PatientBroken: {
			{set: "patient-broken", ending: fails, reason: content, only: small},
			{set: "patient-broken,patient-by-id", ending: fails, reason: content, only: small},
		},
		switches.AttachmentForeign: {
			{set: "attachment-foreign", ending: partly, loses: []string{"Binary"}, only: paged},
		},
		switches.AttachmentMissing: {{set: "attachment-missing", ending: partly, loses: []string{"Binary"}, only: paged}},
		switches.AttachmentDrops:   {{set: "attachment-drops", ending: partly, loses: []string{"Binary"}, only: paged}},
		switches.AttachmentLarge: {
			{set: "attachment-large:1", ending: whole, only: paged},
			{set: "attachment-large:26", ending: partly, loses: []string{"Binary"}, only: paged, heavy: true},
		},
		switches.Chaos: {
			{set: "chaos:1", ending: partly}, {set: "chaos:2", ending: partly}, {set: "chaos:3", ending: partly},
		},
	}
}

// tokenLife lists servers whose access tokens expire during an export.
func tokenLife() map[string][]expectation {
	failure := export.TokenRefreshFailure
	return map[string][]expectation{
		switches.AccessLifetime: unchangedFile("access:5s,slow:2s", "access:5s,slow:2s,next-internal,session-next"),
		switches.Rotation:       unchangedFile("rotation:one-time,access:5s,slow:2s", "rotation:none,access:5s,slow:2s"),
		switches.NoRefresh: {
			{set: "no-refresh", ending: whole},
			{set: "no-refresh,access:5s,slow:2s", ending: fails, reason: failure, only: paged},
		},
		switches.RefreshFails: {
			{set: "refresh-fails:invalid_grant", ending: whole},
			{set: "refresh-fails:invalid_grant,access:5s,slow:2s", ending: fails, reason: failure, only: paged},
			{set: "refresh-fails:500,access:5s,slow:2s", ending: fails, reason: failure, only: paged},
			{set: "refresh-fails:429,access:5s,slow:2s", ending: fails, reason: failure, only: paged},
		},
		switches.FailsFirst: unchangedFile("refresh-fails:500,fails-first:2,access:60s,slow:2s"),
	}
}

// Personas used in these tests. paged has resources of many types, nested references and more Observations than fit on
// a page. unusual has data that often causes errors in clients. small has a small record, for slow cases.
var (
	paged   = []string{"garden-wide"}
	unusual = []string{"linden-moss"}
	small   = []string{"juniper-vale"}
)

// label is the name of a switch that has no effect.
const label = "label"
