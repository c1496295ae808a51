package fhir

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
)

// Refusal is what the body of a refused request says about why, as far as that helps to ask better.
type Refusal string

// The refusals, each of which leads to another way of asking.
const (
	Unexplained Refusal = ""         // nothing that helps
	NeedsMore   Refusal = "needs"    // another parameter is required
	NoCount     Refusal = "no_count" // _count is not known
	Denied      Refusal = "denied"   // scope, the patient's or the site's choice
	Unsupported Refusal = "unknown"  // the type or the interaction does not exist here
	Missing     Refusal = "missing"  // the resource does not exist here
)

// maxOutcome is the longest body that is read for a reason. Outcomes are a few hundred bytes; what is longer is a
// page or a stack trace.
const maxOutcome = 64 << 10

// ParseRefusal reads the body of a refused request, which should be an OperationOutcome (FHIR R4
// operationoutcome.html). Servers give the same status to very different refusals, so that only
// the words tell them apart. Anything else than an OperationOutcome of at most 64 KiB is Unexplained. The status goes
// before: with an expired token (401) a server says "login", which reads as Denied here.
func ParseRefusal(body []byte) Refusal {
	issues := readIssues(body)
	for _, rule := range [...]struct {
		refusal Refusal
		fits    func(issue) bool
	}{
		{Missing, issue.saysMissing},
		{NoCount, issue.saysNoCount},
		{NeedsMore, issue.saysNeedsMore}, // before Denied: athenahealth says "forbidden" when a parameter is missing
		{Denied, issue.saysDenied},
		{Unsupported, issue.saysUnsupported},
	} {
		if slices.ContainsFunc(issues, rule.fits) {
			return rule.refusal
		}
	}
	return Unexplained
}

// issue is one OperationOutcome.issue in lower case.
type issue struct {
	codes []string // code and details.coding.code
	text  string   // the codes, details.text and diagnostics, each on a line of its own
}

// readIssues returns the issues of an OperationOutcome, or none when body is something else.
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
	// A member of another type than FHIR's is passed over; the others are read all the same.
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

// The words of refusals, as servers were seen to write them. What stands between two
// of them is of the same sentence.
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

// saysNoCount leaves out combinations: those name _count among what could be asked.
func (i issue) saysNoCount() bool {
	return wordsNoCount.MatchString(i.text) && !strings.Contains(i.text, "combination")
}

// saysNeedsMore leaves out that a scope or a login is required, which no parameter can give.
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
