package asyncapi

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// meaning is what a member says, and which of its values there are beyond its Go type.
type meaning struct {
	doc   string
	rules object
}

// glossary explains members by their name, or by "Type.name" where the name means something else there. It notes what
// was looked up, so that nothing in it outlives its member.
type glossary struct {
	meanings map[string]meaning
	used     map[string]bool
}

// of explains a member of a type.
func (g glossary) of(owner, name string) (meaning, error) {
	for _, key := range []string{owner + "." + name, name} {
		if m, ok := g.meanings[key]; ok {
			g.used[key] = true
			return m, nil
		}
	}
	return meaning{}, fmt.Errorf("the glossary does not explain %s.%s", owner, name)
}

// complete is an error that names what explains no member.
func (g glossary) complete() error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(g.meanings)) {
		if !g.used[key] {
			errs = append(errs, fmt.Errorf("the glossary explains %s, which no payload has", key))
		}
	}
	return errors.Join(errs...)
}

func newGlossary() glossary {
	g := glossary{meanings: map[string]meaning{}, used: map[string]bool{}}
	for _, part := range []map[string]meaning{exportMembers(), connectionMembers(), failureMembers(), otherMembers()} {
		maps.Copy(g.meanings, part)
	}
	return g
}

func format(name string) object         { return object{{"format", name}} }
func pattern(text string) object        { return object{{"pattern", text}} }
func oneOf(values ...string) object     { return object{{"enum", words(values)}} }
func atLeast(name string, n int) object { return object{{name, n}} }

func exportMembers() map[string]meaning {
	return map[string]meaning{
		"download_links": {doc: "Where the files of the export are: one for each format that was asked for.", rules: atLeast("minItems", 1)},
		"download_link":  {doc: "The first of download_links. Use that: this one was to be removed in June 2026, and is sent only where the operator has switched it on.", rules: object{{"deprecated", true}}},
		"url": {
			doc:   "Where the file is, for 8 days. Follow the redirect. It works without a key, so keep it confidential.",
			rules: format("uri"),
		},
		"export_type":            {doc: "The format, one of those of the request. \"jsonl\", the default, has one FHIR resource in each line."},
		"content_type":           {doc: "The MIME type of the file; application/fhir+ndjson for \"jsonl\"."},
		"stats":                  {doc: "What the export collected."},
		"total_resources":        {doc: "How many FHIR resources there are."},
		"total_by_resource_type": {doc: "How many there are of each FHIR resource type; Resource is all types that FHIR does not have."},
		"complete": {
			doc: "An extension, and always false: the record is not whole, and missing says what of it is not in the files. Absent from " +
				"the event of a whole record.",
			rules: object{{"const", false}},
		},
		"missing": {
			doc: "An extension, together with complete: by FHIR resource type why something of it is not in the files.",
			rules: object{{"additionalProperties", object{{"type", "string"}}.with("enum", words{
				"not_converted", "not_requested", "not_advertised", "other_server", "not_found", "rejected", "refused", "limit", "foreign_link", "too_large", "unavailable", "invalid_content", "other_person",
			})}},
		},
		"task_id": {doc: "Id of the export task.", rules: pattern("^[0-9a-f]{32}$")},
		"org_id":  {doc: "Id of the organisation.", rules: format("uuid")},
		"failure_reason": {
			doc: "Why the export failed. token_refresh_failure: the access token could not be refreshed. scope_patient_missing: the " +
				"patient did not grant patient/*.read or patient/Patient.read. resource_patient_failure: the patient resource could " +
				"not be read. resource_invalid_content: a critical FHIR resource could not be parsed. tefca_no_documents_found: in " +
				"TEFCA mode only, there are no records. suppressed_please_contact: the error is hidden, as it may hold health data.",
			rules: oneOf("token_refresh_failure", "scope_patient_missing", "resource_patient_failure", "resource_invalid_content",
				"tefca_no_documents_found", "suppressed_please_contact").with("default", "suppressed_please_contact"),
		},
		"sequence":        {doc: "Number of the event among those of its task, from 1. The highest is the latest.", rules: atLeast("minimum", 1)},
		"queries_done":    {doc: "Requests for a list, a resource or an attachment that the health system has answered."},
		"queries_planned": {doc: "Those, and what is known to be left. It grows while references are found."},
		"resources":       {doc: "FHIR resources collected so far."},
		"bytes":           {doc: "Bytes collected so far."},
	}
}

func connectionMembers() map[string]meaning {
	return map[string]meaning{
		"org_connection_id": {doc: "Id of the connection between the patient and the organisation.", rules: format("uuid")},
		"ConnectionFailure.org_connection_id": {
			doc: "Id of the connection that was to be reconnected; absent in a first attempt.", rules: format("uuid"),
		},
		"endpoint_id":                   {doc: "Id of the institution's endpoint. Can be absent in TEFCA mode.", rules: format("uuid")},
		"portal_id":                     {doc: "Id of the institution's portal. Can be absent in TEFCA mode.", rules: format("uuid")},
		"brand_id":                      {doc: "Id of the institution's brand. Can be absent in TEFCA mode.", rules: format("uuid")},
		"ConnectionFailure.endpoint_id": {doc: "Id of the institution's endpoint.", rules: format("uuid")},
		"ConnectionFailure.portal_id":   {doc: "Id of the institution's portal.", rules: format("uuid")},
		"ConnectionFailure.brand_id":    {doc: "Id of the institution's brand.", rules: format("uuid")},
		"ConnectionSuccess.connection_status": {
			doc: "Whether the patient has agreed: rejected when the patient declined.", rules: oneOf("authorized", "rejected"),
		},
		"AuthorizationRevoked.connection_status":   {doc: "Always revoked.", rules: oneOf("revoked")},
		"platform_type":                            {doc: "The kind of health record system; tefca in TEFCA mode."},
		"request_id":                               {doc: "The same as in the redirect: the request_id that the attempt was begun with, or the one that it was given; of a rejected connection that of the error."},
		"external_id":                              {doc: "The caller's own id of the patient, as the attempt was started with."},
		"external_state":                           {doc: "The caller's own id of the attempt, as it was started with."},
		"ConnectionSuccess.external_id":            {doc: "The caller's own id of the patient; empty when the attempt was started without."},
		"ConnectionSuccess.external_state":         {doc: "The caller's own id of the attempt; empty when it was started without."},
		"scope":                                    {doc: "The scopes that were granted, separated by spaces, if known. Always patient/*.read in TEFCA mode."},
		"consent_expires_at":                       {doc: "When consent ends, if the portal says so, or access does, if it gave no refresh token.", rules: format("date-time")},
		"AuthorizationExpiring.consent_expires_at": {doc: "When consent ends, as far as the portal says, or access does, if it gave no refresh token.", rules: format("date-time")},
		"tefca_directory_id":                       {doc: "The health system's id in the TEFCA directory, in the form of a URN. In TEFCA mode only."},
	}
}

func failureMembers() map[string]meaning {
	return map[string]meaning{
		"ConnectionFailure.request_id": {doc: "Id of the error, which the patient was shown, too. Quote it to support."},
		"error": {
			doc: "The code of the error, as a redirect carries it.",
			rules: oneOf("invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
				"svc_unauthorized_client", "svc_invalid_request", "svc_server_error", "svc_token_exchange"),
		},
		"error_description": {doc: "One or two sentences for the patient, in ASCII."},
		"cause":             {doc: "Why it failed, in a word that stays. webhooks.md lists them. There will be more."},
		"suggested_action":  {doc: "A sentence about what to do, for a person. It may be reworded."},
		"AuthorizationExpiring.cause": {
			doc: "Why it ends, in a word that stays: consent_expires; no_refresh_token where nothing renews the access. There may be more.",
		},
	}
}

func otherMembers() map[string]meaning {
	return map[string]meaning{
		"email":          {doc: "The patient's address.", rules: format("email")},
		"name":           {doc: "Name of the health system."},
		"website":        {doc: "Where the health system is on the web, as the patient wrote it."},
		"street_address": {doc: "Where the health system is, as the patient wrote it."},
		"body":           {doc: "The patient's words. Free text whose form may change; it may hold personal and health data."},
		"hello":          {doc: "A greeting."},
		"random":         {doc: "Something else each time."},
	}
}
