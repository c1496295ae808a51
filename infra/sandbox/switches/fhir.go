package switches

import "slices"

// Switches for the FHIR server, in table order.
const (
	OutcomeEntry     = "outcome-entry"
	SessionNext      = "session-next"
	RequireCategory  = "require-category"
	CarePlan404      = "careplan-404"
	Suppressed       = "suppressed-category"
	RejectCount      = "reject-count"
	Deny             = "deny"
	DenyUser         = "deny-user"
	Deny500          = "deny-500"
	Unsupported500   = "unsupported-500"
	Deny401HTML      = "deny-401-html"
	Deny403HTML      = "deny-403-html"
	Scope401HTML     = "scope-401-html"
	Unknown404HTML   = "unknown-404-html"
	Missing500       = "missing-ref-500"
	RateHeaders      = "rate-headers"
	LimitSeconds     = "limit-seconds"
	LimitDate        = "limit-date"
	LeaveAlone       = "leave-alone"
	Search503        = "search-503"
	ForeignReference = "foreign-ref"
	AbsoluteOwn      = "absolute-ref"
	NextInternal     = "next-internal"
	NextForeign      = "next-foreign"
	NextRelative     = "next-relative"
	Gateway          = "gateway"
	GetPages         = "get-pages"
	Slow             = "slow"
	TruncatedJSON    = "truncated-json"
	BrokenJSON       = "broken-json"
	PatientBroken    = "patient-broken"
	BinaryNotJSON    = "binary-not-json"
	NoTotal          = "no-total"
	TotalPage        = "total-page"
	NoProvenance     = "no-provenance"
	RequireIntent    = "require-intent"
	RequireDate      = "require-date"
	PatientByID      = "patient-by-id"
	SearchBy         = "search-by"
	IDList           = "id-list"
	AllTypes         = "all-types"
	Batch            = "batch"
	Unlisted         = "unlisted"
	UnlistedIncludes = "unlisted-includes"
	Practice         = "ah-practice"
	Chaos            = "chaos"
	label            = "label"
)

func fhirTable() []Switch {
	return slices.Concat(refusalTable(), answerTable(), searchTable())
}

func refusalTable() []Switch {
	return []Switch{
		{OutcomeEntry, "", "Every search Bundle contains an OperationOutcome entry with search.mode=outcome.", "Epic"},
		{SessionNext, "", "The next link is ?sessionID=, which works once and returns 404 afterwards.", "Epic"},
		{
			RequireCategory, "", "Observation and CarePlan without a category are rejected with 400 business-rule.",
			"Epic, NextGen, eClinicalWorks",
		},
		{CarePlan404, "", "CarePlan without a category is rejected with 404.", "NextGen"},
		{Suppressed, text, "A search for this category is rejected with 400 suppressed.", "Epic"},
		{
			RejectCount, "", "A search with _count is rejected with 400: does not know how to handle [patient,_count].",
			"eClinicalWorks",
		},
		{
			Deny, types, "These types are rejected with 403 and an empty body.",
			"Epic; * is a wrong tenant at Oracle/Cerner; Patient is Blue Button without demographics",
		},
		{DenyUser, types, "These types are rejected with 403: Read access is denied by user.", "NextGen"},
		{Deny500, types, "These types are rejected with 500: FHIR API Unexpected Error.", "DrChrono/OnPatient"},
		{
			Unsupported500, "", "An unsupported search parameter returns 500: FHIR API Unexpected Error.",
			"DrChrono/OnPatient",
		},
		{Deny401HTML, types, "These types are rejected with 401 and an HTML page.", "healthit.gov sandbox"},
		{
			Deny403HTML, types, "These types are rejected with 403 and an HTML page.",
			"HAPI behind a web application firewall",
		},
		{
			Scope401HTML, "", "A type outside the granted scopes is rejected with 401 and an HTML page.",
			"healthit.gov sandbox",
		},
		{Unknown404HTML, "", "A type that is not served returns 404 and an HTML page.", "Epic"},
		{Missing500, "", "Reading a missing resource returns 500 HAPI-2001.", "Cigna and others on HAPI"},
		{RateHeaders, "", "FHIR responses have RateLimit-* and X-RateLimit-* headers.", "athenahealth"},
		{LimitSeconds, number, "Every n-th FHIR request with a token returns 429 and Retry-After in seconds.", "VA"},
		{
			LimitDate, number, "Every n-th FHIR request with a token returns 429 and Retry-After as a date.",
			"RFC 9110 section 10.2.3",
		},
		{
			LeaveAlone, duration,
			"The first search returns 429 with this Retry-After; an earlier FHIR request is also rejected and " +
				"restarts the wait.",
			"RFC 6585 section 4",
		},
		{Search503, number, "Every n-th search returns 503 and Retry-After.", "any"},
	}
}

func answerTable() []Switch {
	return []Switch{
		{ForeignReference, "", "References to people and places are absolute http URLs on another host.", "NextGen"},
		{AbsoluteOwn, "", "References are absolute URLs under the FHIR base.", "any"},
		{NextInternal, "", "The next link has an internal host name, as leaked by a proxy.", "any"},
		{NextForeign, "", "The next link has another host and path.", "any"},
		{NextRelative, "", "The next link is relative to the FHIR base.", "any"},
		{Gateway, "", "Every URL in responses has another host and path, as behind a " +
			"gateway.", "HAPI and others behind a proxy"},
		{GetPages, "", "The next link is the FHIR base with ?_getpages=, without a type.", "HAPI"},
		{Slow, duration, "Every FHIR response is delayed.", "any"},
		{TruncatedJSON, "", "Search Bundles are truncated.", "any"},
		{BrokenJSON, types, "Search Bundles of these types are truncated.", "any"},
		{PatientBroken, "", "The Patient is truncated, in reads and searches.", "any"},
		{BinaryNotJSON, "", "Binary returns the content itself, whatever Accept is.", "any"},
		{NoTotal, "", "Search Bundles have no total.", "athenahealth"},
		{TotalPage, "", "A Bundle's total counts only its page.", "Epic"},
		{NoProvenance, "", "Provenance is rejected with 400 not implemented.", "NextGen, athenahealth"},
	}
}

func searchTable() []Switch {
	return []Switch{
		{
			RequireIntent, "", "MedicationRequest without intent is rejected with 403 and a list of accepted " +
				"combinations.",
			"athenahealth",
		},
		{RequireDate, "", "Appointment without a date is rejected with 400.", "Oracle/Cerner"},
		{PatientByID, "", "Patient can be found only by ?_id=: a read by ID is rejected with 404.", "Oracle/Cerner"},
		{
			SearchBy, "patient|subject",
			"Where FHIR has two search parameters for the patient, only this one is supported; others are rejected " +
				"with 400.", "any",
		},
		{
			IDList, "ignored|half|refused",
			"A search for several IDs returns all resources of the type, returns half of them, or is rejected with " +
				"400.", "any",
		},
		{
			AllTypes, "",
			"Every type in R4's patient compartment is listed and searchable; most searches return nothing.", "HAPI",
		},
		{
			Batch, "whole|refused|empty|half",
			"A batch of searches posted to the base is accepted, is rejected with 403 although the statement lists " +
				"it, returns nothing, or returns 500 for every second search.", "HAPI and others",
		},
		{
			Unlisted, types, "The statement omits these types, which can still be read and searched.",
			"a server that lists only US Core",
		},
		{UnlistedIncludes, "", "The statement lists no _include or _revinclude, but searches accept them.", "any"},
		{Practice, "", "The token response contains ah_practice, and FHIR requests without " +
			"ah-practice=Organization/{it} are rejected with 403.", "athenahealth"},
		{Chaos, number, "A mixture of 5xx errors, slow responses and broken bodies; the number is the seed. A given " +
			"request fails at most three times.", "any"},
		{label, text, "No effect; keeps the counters of two otherwise equal URLs apart.", "tests"},
	}
}
