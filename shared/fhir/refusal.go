package fhir

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
)

// Refusal classifies why a request was refused, to the extent that the reason helps to choose another request.
type Refusal string

// Refusals. Each refusal leads to a different kind of request.
const (
	Unexplained Refusal = ""         // no usable reason
	NeedsMore   Refusal = "needs"    // the search requires another parameter
	NoCount     Refusal = "no_count" // the server does not support _count
	Denied      Refusal = "denied"   // the scope, the patient's choice or the site's choice doesn't allow the request
	Unsupported Refusal = "unknown"  // the server does not support the type or the interaction
	Missing     Refusal = "missing"  // the server has no such resource
)

// maxOutcome is the maximum length of a response body that is parsed for a reason. An OperationOutcome is a few hundred
// bytes long; a longer body is a web page or a stack trace.
const maxOutcome = 64 << 10

// ParseRefusal parses the body of a refused request, which should be an OperationOutcome (FHIR R4
// operationoutcome.html). Servers use the same status code for different reasons, so only the response text
// distinguishes them. ParseRefusal returns Unexplained if body is not an OperationOutcome or exceeds 64 KiB. Callers
// must check the status first, because an expired token (401) yields responses that contain "login", which would count
// as Denied.
func ParseRefusal(body []byte) Refusal {
	issues := readIssues(body)
	for _, rule := range [...]struct {
		refusal Refusal
		fits    func(issue) bool
	}{
		{Missing, issue.saysMissing},
		{NoCount, issue.saysNoCount},
		{NeedsMore, issue.saysNeedsMore}, // precedes Denied: if a parameter is missing, athenahealth states "forbidden"
		{Denied, issue.saysDenied},
		{Unsupported, issue.saysUnsupported},
	} {
		if slices.ContainsFunc(issues, rule.fits) {
			return rule.refusal
		}
	}
	return Unexplained
}

// issue holds one OperationOutcome.issue, converted to lower case.
type issue struct {
	codes []string // code and details.coding.code
	text  string   // the codes, details.text and diagnostics, one per line
}

// readIssues returns an OperationOutcome's issues, or nil for any other body.
func readIssues(body []byte) []issue {
	if len(body) > maxOutcome {
		return nil
	}
	var outcome struct {
		ResourceType string `json:"resourceType"`
		Issue        []struct {
			Code        string `json:"code"`
			Diagnostics string `json:"diagnostics"`
			Details     struct {
				Text   string `json:"text"`
				Coding []struct {
					Code string `json:"code"`
				} `json:"coding"`
			} `json:"details"`
		} `json:"issue"`
	}
	err := json.Unmarshal(body, &outcome)
	// Members of an unexpected JSON type are ignored.
	if _, mistyped := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !mistyped {
		return nil
	}
	if outcome.ResourceType != "OperationOutcome" {
		return nil
	}
	issues := make([]issue, 0, len(outcome.Issue))
	for _, stated := range outcome.Issue {
		codes := []string{strings.ToLower(stated.Code)}
		for _, coding := range stated.Details.Coding {
			codes = append(codes, strings.ToLower(coding.Code))
		}
		lines := append(slices.Clone(codes), strings.ToLower(stated.Details.Text), strings.ToLower(stated.Diagnostics))
		issues = append(issues, issue{codes: codes, text: strings.Join(lines, "\n")})
	}
	return issues
}

// Wordings of refusals observed from servers. If a pattern has two words, both must be in the same sentence.
var (
	wordsMissing = regexp.MustCompile(`hapi-2001|\bresource \S+ is not known`)

	wordsNoCount = regexp.MustCompile(
		`(not know|unknown|unsupported|unrecogni[sz]ed|invalid|not support)[^.;\n]*\b_count\b|` +
			`\b_count\b[^.;\n]*(unknown|unsupported|unrecogni[sz]ed|invalid|not (known|supported|recogni[sz]ed|valid|allowed))`)

	wordsCombination = regexp.MustCompile(`combination|at least one of|not know how to handle`)

	wordsRequired = regexp.MustCompile(`\brequire[ds]?\b|\bmust (have|include|contain|specify)\b|` +
		`\bmust be (provided|specified|supplied)\b|\bneeds\b`)

	wordsRights = regexp.MustCompile(`(\b|_)scopes?\b|\bauthenticat|\bauthori[sz]ation\b`)

	wordsDenied = regexp.MustCompile(`\bdenied\b|\bnot authori[sz]ed\b|\bunauthori[sz]ed\b|(\b|_)scopes?\b`)

	wordsUnsupported = regexp.MustCompile(`not implemented|not supported|unknown resource type|unexpected error`)
)

func (i issue) saysMissing() bool { return wordsMissing.MatchString(i.text) }

// saysNoCount reports whether the issue states that the server rejects _count. Messages about unsupported combinations
// don't count, because they list _count among the supported parameters.
func (i issue) saysNoCount() bool {
	return wordsNoCount.MatchString(i.text) && !strings.Contains(i.text, "combination")
}

// saysNeedsMore reports whether the issue states that another parameter is required. A required scope or login doesn't
// count, because no parameter provides it.
func (i issue) saysNeedsMore() bool {
	return i.hasCode("required", "business-rule") || wordsCombination.MatchString(i.text) ||
		wordsRequired.MatchString(i.text) && !wordsRights.MatchString(i.text)
}

func (i issue) saysDenied() bool {
	return i.hasCode("suppressed", "forbidden", "security", "login") || wordsDenied.MatchString(i.text)
}

func (i issue) saysUnsupported() bool {
	return i.hasCode("not-supported") || wordsUnsupported.MatchString(i.text)
}

func (i issue) hasCode(codes ...string) bool {
	return slices.ContainsFunc(i.codes, func(code string) bool { return slices.Contains(codes, code) })
}
