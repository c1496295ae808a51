package export

import (
	"slices"

	"recordbridge/shared/export/plan"
	"recordbridge/shared/fhir"
)

// account is how the collection of one resource type goes.
type account struct {
	Type     string     `json:"type"`              // as fhir.TypeName names it
	Planned  bool       `json:"planned,omitempty"` // the plan searches for it
	Paged    bool       `json:"paged,omitempty"`   // a search for it has brought a page, be it an empty one
	Barred   LossReason `json:"barred,omitempty"`  // why a search brought none
	Answered int        `json:"answered"`          // queries and reads that ended well
	Missing  int        `json:"missing"`           // resources that are known of and could not be read
	LeftOut  int        `json:"left_out"`          // resources that are another patient's
	OnlyBy   string     `json:"only_by,omitempty"`
	Worst    Outcome    `json:"worst,omitempty"`
	Reason   LossReason `json:"reason,omitempty"` // that goes with Worst
	Status   int        `json:"status,omitempty"` // that goes with Worst
}

// fail notes a failure; the worst stays.
func (a *account) fail(result Outcome, reason LossReason, status int) {
	order := []Outcome{"", OutcomeUnsupported, OutcomeDenied, OutcomeFailed, OutcomeTruncated}
	worse := slices.Index(order, result) - slices.Index(order, a.Worst)
	if worse > 0 || worse == 0 && (reason.worse(a.Reason) || reason == a.Reason && a.Status == 0) {
		a.Worst, a.Reason, a.Status = result, reason, status
	}
}

// bar notes that a search for the type ended without a page.
func (a *account) bar(reason LossReason) {
	if reason.worse(a.Barred) {
		a.Barred = reason
	}
}

// outcome sums the account up for a type of which count resources are in the file. Where some of them are, or a part of
// the questions was answered, whatever failed makes it truncated.
func (a *account) outcome(count int) TypeOutcome {
	sum := TypeOutcome{
		Type: a.Type, Result: a.Worst, Count: count, Missing: a.Missing, LeftOut: a.LeftOut, OnlyBy: a.OnlyBy, Reason: a.Reason, Status: a.Status,
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

// outcome lists how far every type came that was asked for or found, in the order of the plan, and then the other types of the
// patient compartment, so that what was not asked for is told as well.
func (c *collector) outcome() []TypeOutcome {
	list := c.state.outcome()
	told := map[string]bool{"Patient": true}
	for _, o := range list {
		told[o.Type] = true
	}
	for _, resourceType := range slices.Concat(plan.Compartment(c.state.Version), c.task.Options.Types) {
		if told[resourceType] || !c.task.Options.wants(resourceType) || !plan.Searched(resourceType) {
			continue
		}
		told[resourceType] = true
		unasked := TypeOutcome{Type: resourceType, Result: OutcomeUnsupported, Reason: LossUnsupported}
		if !c.state.Listed && !c.granted(resourceType, fhir.Search) {
			unasked.Result, unasked.Reason = OutcomeDenied, LossNotGranted
		}
		list = append(list, unasked)
	}
	return list
}

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
