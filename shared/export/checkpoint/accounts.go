package checkpoint

import (
	"cmp"
	"slices"

	"recordbridge/shared/export"
	"recordbridge/shared/fhir"
	"recordbridge/shared/webhook"
)

// Accounts are how the collection of each resource type goes.
type Accounts struct {
	List   []*Account     `json:"accounts"`
	Counts map[string]int `json:"counts"` // resources in the segments, by the name that a type is counted under
}

// Account is how the collection of one resource type goes.
type Account struct {
	Type     string            `json:"type"`              // as fhir.TypeName names it
	Planned  bool              `json:"planned,omitempty"` // the plan searches for it
	Paged    bool              `json:"paged,omitempty"`   // a search for it has brought a page, be it an empty one
	Barred   export.LossReason `json:"barred,omitempty"`  // why a search brought none
	Answered int               `json:"answered"`          // queries and reads that ended well
	Missing  int               `json:"missing"`           // resources that are known of and could not be read
	LeftOut  int               `json:"left_out"`          // resources that are another patient's
	OnlyBy   string            `json:"only_by,omitempty"` // see plan.Query.OnlyBy
	Worst    export.Outcome    `json:"worst,omitempty"`
	Reason   export.LossReason `json:"reason,omitempty"` // that goes with Worst
	Status   int               `json:"status,omitempty"` // that goes with Worst
}

// Of finds the account of a type, or opens it. All types that FHIR does not know have one together, so that their
// number is bounded whatever a server invents.
func (a *Accounts) Of(resourceType string) *Account {
	resourceType = fhir.TypeName(resourceType)
	at := slices.IndexFunc(a.List, func(one *Account) bool { return one.Type == resourceType })
	if at < 0 {
		a.List = append(a.List, &Account{Type: resourceType})
		at = len(a.List) - 1
	}
	return a.List[at]
}

// Count counts a resource that was written.
func (a *Accounts) Count(resourceType string) { a.Counts[fhir.TypeName(resourceType)]++ }

// Limited counts a resource that is known of and is not read, because some bound is reached.
func (a *Accounts) Limited(resourceType string) {
	a.Of(resourceType).Miss(1, export.OutcomeTruncated, export.LossLimit, 0)
}

// Stats counts what is in the segments.
func (a *Accounts) Stats() webhook.Stats {
	stats := webhook.Stats{TotalByResourceType: a.Counts}
	for _, n := range a.Counts {
		stats.TotalResources += n
	}
	return stats
}

// Outcome lists how far every type came that was asked for or found, in the order of the plan.
func (a *Accounts) Outcome() []export.TypeOutcome {
	found := make([]string, 0, len(a.Counts))
	for resourceType := range a.Counts {
		found = append(found, resourceType)
	}
	slices.Sort(found)
	for _, resourceType := range found {
		a.Of(resourceType)
	}
	list := make([]export.TypeOutcome, 0, len(a.List))
	for _, one := range a.List {
		list = append(list, one.outcome(a.Counts[one.Type]))
	}
	return list
}

// Fail notes a failure; the worst stays.
func (a *Account) Fail(result export.Outcome, reason export.LossReason, status int) {
	order := []export.Outcome{
		"", export.OutcomeUnsupported, export.OutcomeDenied, export.OutcomeFailed,
		export.OutcomeTruncated,
	}
	worse := slices.Index(order, result) - slices.Index(order, a.Worst)
	if worse > 0 || worse == 0 && (reason.Worse(a.Reason) || reason == a.Reason && a.Status == 0) {
		a.Worst, a.Reason, a.Status = result, reason, status
	}
}

// Miss counts resources that are known of and are not in the file.
func (a *Account) Miss(count int, result export.Outcome, reason export.LossReason, status int) {
	a.Missing += count
	a.Fail(result, reason, status)
}

// Bar notes that a search for the type ended without a page.
func (a *Account) Bar(reason export.LossReason) {
	if reason.Worse(a.Barred) {
		a.Barred = reason
	}
}

// Answer notes a search that ended well, of which onlyBy says what it was narrowed by.
func (a *Account) Answer(onlyBy string) {
	a.Answered++
	a.OnlyBy = cmp.Or(a.OnlyBy, onlyBy)
}

// outcome sums the account up for a type of which count resources are in the file. Where some of them are, or a part of
// the questions was answered, whatever failed makes it truncated.
func (a *Account) outcome(count int) export.TypeOutcome {
	sum := export.TypeOutcome{
		Type: a.Type, Result: a.Worst, Count: count, Missing: a.Missing, LeftOut: a.LeftOut, OnlyBy: a.OnlyBy,
		Reason: a.Reason, Status: a.Status,
	}
	switch {
	case a.Worst != "" && (count > 0 || a.Answered > 0):
		sum.Result = export.OutcomeTruncated
	case a.Worst == "" && count == 0:
		sum.Result = export.OutcomeEmpty
	case a.Worst == "":
		sum.Result = export.OutcomeOK
	}
	return sum
}
