package switches

import "slices"

// Switches of the FHIR server, in the order of the table.
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

// refusalTable returns the switches that refuse requests.
func refusalTable() []Switch {
	return []Switch{
		{OutcomeEntry, "", "Every search bundle carries an OperationOutcome entry with search.mode=outcome.", "Epic"},
		{SessionNext, "", "The next link is ?sessionID=, works once, and answers 404 afterwards.", "Epic"},
		{
			RequireCategory, "", "Observation and CarePlan without category are refused with 400 business-rule.",
			"Epic, NextGen, eClinicalWorks",
		},
		{CarePlan404, "", "CarePlan without category is refused with 404.", "NextGen"},
		{Suppressed, text, "A search for this category is refused with 400 suppressed.", "Epic"},
		{
			RejectCount, "", "A search with _count is refused with 400: does not know how to handle [patient,_count].",
			"eClinicalWorks",
		},
		{
			Deny, types, "These types are refused with 403 and an empty body.",
			"Epic; * is a wrong tenant at Oracle/Cerner; Patient is Blue Button without demographics",
		},
		{DenyUser, types, "These types are refused with 403: Read access is denied by user.", "NextGen"},
		{Deny500, types, "These types are refused with 500: FHIR API Unexpected Error.", "DrChrono/OnPatient"},
		{
			Unsupported500, "", "An unsupported search parameter is answered with 500: FHIR API Unexpected Error.",
			"DrChrono/OnPatient",
		},
		{Deny401HTML, types, "These types are refused with 401 and a page of HTML.", "healthit.gov sandbox"},
		{
			Deny403HTML, types, "These types are refused with 403 and a page of HTML.",
			"HAPI behind a firewall for web applications",
		},
		{
			Scope401HTML, "", "A type outside the granted scopes is refused with 401 and a page of HTML.",
			"healthit.gov sandbox",
		},
		{Unknown404HTML, "", "A type that is not served is answered with 404 and a page of HTML.", "Epic"},
		{Missing500, "", "Reading what does not exist is answered with 500 HAPI-2001.", "Cigna and others on HAPI"},
		{RateHeaders, "", "FHIR answers carry RateLimit-* and X-RateLimit-*.", "athenahealth"},
		{LimitSeconds, number, "Every n-th FHIR request with a token is answered with 429 and Retry-After in seconds.", "VA"},
		{
			LimitDate, number, "Every n-th FHIR request with a token is answered with 429 and Retry-After as a date.",
			"RFC 9110 section 10.2.3",
		},
		{
			LeaveAlone, duration,
			"The first search is answered with 429 and Retry-After of so long; a FHIR request that comes earlier is refused " +
				"as well, and the time begins again.",
			"RFC 6585 section 4",
		},
		{Search503, number, "Every n-th search is answered with 503 and Retry-After.", "any"},
	}
}

// answerTable returns the switches for the contents and delivery of responses.
func answerTable() []Switch {
	return []Switch{
		{ForeignReference, "", "References to people and places are absolute URLs on a foreign host, by http.", "NextGen"},
		{AbsoluteOwn, "", "References are absolute URLs below the FHIR base.", "any"},
		{NextInternal, "", "The next link names an internal host, as behind a proxy that leaks it.", "any"},
		{NextForeign, "", "The next link names a foreign host and another path.", "any"},
		{NextRelative, "", "The next link is relative to the FHIR base.", "any"},
		{Gateway, "", "Every address that the server writes names it as it is behind a gateway: by another host and " +
			"another path.", "HAPI and others behind a proxy"},
		{GetPages, "", "The next link is the FHIR base with ?_getpages=, without a type.", "HAPI"},
		{Slow, duration, "Every FHIR answer comes late.", "any"},
		{TruncatedJSON, "", "Search bundles break off in the middle.", "any"},
		{BrokenJSON, types, "Search bundles of these types break off in the middle.", "any"},
		{PatientBroken, "", "The Patient breaks off in the middle, read or searched for.", "any"},
		{BinaryNotJSON, "", "Binary is answered with the content itself, whatever Accept says.", "any"},
		{NoTotal, "", "Search bundles have no total.", "athenahealth"},
		{TotalPage, "", "The total of a bundle counts its page only.", "Epic"},
		{NoProvenance, "", "Provenance is refused with 400 not implemented.", "NextGen, athenahealth"},
	}
}

// searchTable returns the switches for search parameters and the server as a whole.
func searchTable() []Switch {
	return []Switch{
		{
			RequireIntent, "", "MedicationRequest without intent is refused with 403 that lists the accepted combinations.",
			"athenahealth",
		},
		{RequireDate, "", "Appointment without date is refused with 400.", "Oracle/Cerner"},
		{PatientByID, "", "Patient is found by ?_id= only: reading it by id is refused with 404.", "Oracle/Cerner"},
		{
			SearchBy, "patient|subject",
			"Where FHIR has two search parameters for the patient, only this one is known, and what is not known is refused " +
				"with 400.", "any",
		},
		{
			IDList, "ignored|half|refused",
			"A search for several ids finds whatever there is of the type; finds half of them; or is refused with 400.", "any",
		},
		{
			AllTypes, "",
			"Every type of R4's patient compartment is listed and can be searched; most searches find nothing.", "HAPI",
		},
		{
			Batch, "whole|refused|empty|half",
			"A batch of searches, posted to the base, is answered; is refused with 403 although the statement lists it; finds " +
				"nothing; or every second search in it is answered with 500.", "HAPI and others",
		},
		{
			Unlisted, types, "The statement leaves these types out, which can be read and searched all the same.",
			"a server that lists US Core only",
		},
		{UnlistedIncludes, "", "The statement lists no _include and no _revinclude, although searches take them.", "any"},
		{Practice, "", "The token answer carries ah_practice, and FHIR calls without ah-practice=Organization/{it} are " +
			"refused with 403.", "athenahealth"},
		{Chaos, number, "A mixture of 5xx, slow answers and broken bodies; the number is the seed. The same request fails " +
			"at most three times.", "any"},
		{label, text, "Does nothing; keeps the counters of two otherwise equal addresses apart.", "tests"},
	}
}
