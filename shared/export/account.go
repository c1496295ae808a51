package export

import (
	"slices"

	"recordbridge/shared/fhir"
)

// account is how the collection of one resource type goes.
type account struct {
	Type     string  `json:"type"`     // as fhir.TypeName names it
	Answered int     `json:"answered"` // queries and reads that ended well
	Missing  int     `json:"missing"`  // resources that are known of and could not be read
	LeftOut  int     `json:"left_out"` // resources that are another patient's
	OnlyBy   string  `json:"only_by,omitempty"`
	Worst    Outcome `json:"worst,omitempty"`
	Status   int     `json:"status,omitempty"` // that goes with Worst
}

// fail notes a failure; the worst stays.
func (a *account) fail(result Outcome, status int) {
	order := []Outcome{"", OutcomeUnsupported, OutcomeDenied, OutcomeFailed, OutcomeTruncated}
	worse := slices.Index(order, result) - slices.Index(order, a.Worst)
	if worse > 0 || worse == 0 && a.Status == 0 {
		a.Worst, a.Status = result, status
	}
}

// outcome sums the account up for a type of which count resources are in the file. Where some of them are, or a part of
// the questions was answered, whatever failed makes it truncated.
func (a *account) outcome(count int) TypeOutcome {
	sum := TypeOutcome{
		Type: a.Type, Result: a.Worst, Count: count, Missing: a.Missing, LeftOut: a.LeftOut, OnlyBy: a.OnlyBy, Status: a.Status,
	}
	switch {
	case a.Worst != "" && (count > 0 || a.Answered > 0):
		sum.Result = OutcomeTruncated
	case a.Worst == "" && count == 0:
		sum.Result = OutcomeEmpty
	case a.Worst == "":
		sum.Result = OutcomeOK
	}
	return sum
}

// account finds the account of a type, or opens it. All types that FHIR does not know have one together, so that their number
// is bounded whatever a server invents.
func (c *checkpoint) account(resourceType string) *account {
	resourceType = fhir.TypeName(resourceType)
	at := slices.IndexFunc(c.Accounts, func(a *account) bool { return a.Type == resourceType })
	if at < 0 {
		c.Accounts = append(c.Accounts, &account{Type: resourceType})
		at = len(c.Accounts) - 1
	}
	return c.Accounts[at]
}

// outcome lists how far every type came that was asked for or found, in the order of the plan.
func (c *checkpoint) outcome() []TypeOutcome {
	found := make([]string, 0, len(c.Counts))
	for resourceType := range c.Counts {
		found = append(found, resourceType)
	}
	slices.Sort(found)
	for _, resourceType := range found {
		c.account(resourceType)
	}
	list := make([]TypeOutcome, 0, len(c.Accounts))
	for _, a := range c.Accounts {
		list = append(list, a.outcome(c.Counts[a.Type]))
	}
	return list
}
