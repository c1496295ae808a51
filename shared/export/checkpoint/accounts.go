package checkpoint

import (
	"cmp"
	"slices"

	"recordbridge/shared/export"
	"recordbridge/shared/fhir"
	"recordbridge/shared/webhook"
)

// Accounts holds the collection state of every resource type.
type Accounts struct {
	List   []*Account     `json:"accounts"`
	Counts map[string]int `json:"counts"` // resources in the segments, by type name
}

// Account holds the collection state of a single resource type.
type Account struct {
	Type    string `json:"type"`              // type name as returned by fhir.TypeName
	Planned bool   `json:"planned,omitempty"` // whether the plan searches for this type
	// whether a search for this type has returned a page, even an empty one
	Paged    bool              `json:"paged,omitempty"`
	Barred   export.LossReason `json:"barred,omitempty"`  // why no search for this type returned a page
	Answered int               `json:"answered"`          // number of successful queries and reads
	Missing  int               `json:"missing"`           // number of known resources that could not be read
	LeftOut  int               `json:"left_out"`          // number of resources that belong to other patients
	OnlyBy   string            `json:"only_by,omitempty"` // parameter that restricted the search; see plan.Query.OnlyBy
	Worst    export.Outcome    `json:"worst,omitempty"`
	Reason   export.LossReason `json:"reason,omitempty"` // reason for the failure recorded in Worst
	Status   int               `json:"status,omitempty"` // HTTP status of the failure recorded in Worst
}

// Of returns the account of a resource type, creating it if needed. All types that FHIR does not define share one
// Account, so a server cannot create more Accounts by inventing types.
func (a *Accounts) Of(resourceType string) *Account {
	resourceType = fhir.TypeName(resourceType)
	at := slices.IndexFunc(a.List, func(one *Account) bool { return one.Type == resourceType })
	if at < 0 {
		a.List = append(a.List, &Account{Type: resourceType})
		at = len(a.List) - 1
	}
	return a.List[at]
}

// Count records that the export wrote one resource of the given type.
func (a *Accounts) Count(resourceType string) { a.Counts[fhir.TypeName(resourceType)]++ }

// Limited counts a known resource that was skipped because the export reached a limit.
func (a *Accounts) Limited(resourceType string) {
	a.Of(resourceType).Miss(1, export.OutcomeTruncated, export.LossLimit, 0)
}

// Stats returns the number of resources of each type in the segments.
func (a *Accounts) Stats() webhook.Stats {
	stats := webhook.Stats{TotalByResourceType: a.Counts}
	for _, n := range a.Counts {
		stats.TotalResources += n
	}
	return stats
}

// Outcome returns the outcome of each resource type that was requested or found, in plan order.
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

// Fail records a failure, keeping only the worst one.
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

// Miss counts known resources that are missing from the file and records the failure.
func (a *Account) Miss(count int, result export.Outcome, reason export.LossReason, status int) {
	a.Missing += count
	a.Fail(result, reason, status)
}

// Bar records that a search for the resource type ended without returning a page.
func (a *Account) Bar(reason export.LossReason) {
	if reason.Worse(a.Barred) {
		a.Barred = reason
	}
}

// Answer records a successful search. The onlyBy argument names the parameter whose listed values restricted the
// search, if any.
func (a *Account) Answer(onlyBy string) {
	a.Answered++
	a.OnlyBy = cmp.Or(a.OnlyBy, onlyBy)
}

// outcome summarises the collection state of a resource type that has count resources in the file. If a request failed,
// the outcome is "truncated" if count is positive or another request for the type succeeded.
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
