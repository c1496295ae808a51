package operator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/fhir"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/timestamp"
)

// maxNamed is the maximum number of resource types named in a sentence.
const maxNamed = 12

// untakenAfter is the maximum time that a pending export may wait for its first worker. Lost messages are sent again
// within a minute.
const untakenAfter = 5 * time.Minute

// adviseExport returns a one-sentence recommendation for an export at the time now. The argument c is the export's
// connection, or zero if the connection was removed.
func adviseExport(e Export, c Connection, now time.Time) string {
	endpointID := c.EndpointID
	of := fmt.Sprintf("-org %s -mode %s", e.Tenant.OrgID, e.Tenant.Mode)
	probe := fmt.Sprintf("ctl endpoint test -id %s %s -token-request", endpointID, of)
	link := fmt.Sprintf("ctl connection show %s -id %s", of, e.ConnectionID)
	if endpointID == "" {
		probe = link // with no endpoint to probe, the advice is to show the connection
	}
	switch {
	case len(e.Damaged) > 0:
		return adviseDamaged(e.Damaged)
	case e.Status == export.Pending:
		return advisePending(e, probe, now)
	case e.Status == export.Failed:
		return adviseFailed(e, probe, link)
	case e.Status != export.Success:
		return "Its status is unknown: restore the row from the table's backup."
	case slices.ContainsFunc(e.Deliveries, undelivered):
		return fmt.Sprintf("Its event has not reached every webhook: ctl webhook log %s -delivery %s.", of, e.EventID)
	case len(notRequested(e)) > 0:
		return adviseRequest(notRequested(e), probe)
	case slices.ContainsFunc(e.Outcome, func(t export.TypeOutcome) bool { return t.Reason == export.LossRefused }):
		return fmt.Sprintf("The portal refuses types that the patient granted. Check our registration there: %s.",
			probe)
	case !now.Before(e.FilesUntil):
		return "Its files have been deleted. The organisation can request a new export."
	case e.Shortfall().Complete != nil:
		return "The record is incomplete, for the reasons in missing. The organisation can request another export."
	}
	return "Nothing."
}

func undelivered(d deliverylog.Entry) bool {
	return d.Status == webhook.Exhausted || d.Status == webhook.Held
}

func advisePending(e Export, probe string, now time.Time) string {
	switch {
	case !e.WaitingSince.IsZero():
		return "It is queued because its organisation has reached its limit of concurrent exports. It will continue " +
			"automatically."
	case now.Sub(e.Began()) > export.Budget:
		return "It has been pending longer than the limit. Check that exportworker is running: " +
			"docs/operate/runbooks/export-queue-age.md."
	case e.Failures > 0 && !e.NextAt.IsZero():
		return fmt.Sprintf("Its last try failed. It will retry at %s and fail after five consecutive failures: %s.",
			timestamp.Of(e.NextAt), probe)
	case e.Deferred && e.NextAt.After(now):
		return fmt.Sprintf("It is deferred, usually because its server requires a wait or an AWS service failed. It will "+
			"continue at %s.",
			timestamp.Of(e.NextAt))
	case e.Generation == 0 && now.Sub(e.CreatedAt) > untakenAfter:
		return "No worker has started it yet: docs/operate/runbooks/export-queue-age.md."
	}
	return "No action needed; it will continue automatically."
}

// adviseRequest explains how to request the resource types that an authorization request omitted.
func adviseRequest(types []string, probe string) string {
	shown := types[:min(len(types), maxNamed)]
	names := strings.Join(shown, ", ")
	if more := len(types) - len(shown); more > 0 {
		names = fmt.Sprintf("%s and %d more", names, more)
	}
	return fmt.Sprintf("Our authorization request did not include %s. Add the scopes that the portal offers with "+
		"registration set … -scope, or endpoint set -override … 'authorize: {wildcard: false, types: […]}', then have the "+
		"patient reconnect. To see the current scopes: %s.", names, probe)
}

func adviseFailed(e Export, probe, link string) string {
	switch e.FailureReason {
	case export.TokenRefreshFailure:
		return fmt.Sprintf("Check whether consent has ended or refreshing fails: %s.", link)
	case export.ScopePatientMissing:
		switch {
		case blameForScope(e) == BlameRegistration && fhir.ParseScopes(e.Scope.Asked).Any():
			return adviseRequest([]string{"Patient"}, probe)
		case blameForScope(e) == BlameRegistration:
			return fmt.Sprintf("This portal's scopes are chosen at registration and lack Patient. Add it and have "+
				"the patient reconnect: %s.", probe)
		case blameForScope(e) == BlamePortal:
			return fmt.Sprintf("The portal grants Patient and refuses everything else. Check our registration there: "+
				"%s.",
				probe)
		}
		return fmt.Sprintf("Have the patient reconnect and allow demographics, which every export requires: %s.", link)
	case export.ResourcePatientFailure:
		return fmt.Sprintf("The portal did not return the Patient. Check our registration there: %s.", probe)
	case export.ResourceInvalidContent:
		return fmt.Sprintf("Tell the institution that its Patient can't be read. To find other problems there: "+
			"%s.", probe)
	case export.TEFCANoDocumentsFound:
		return "No action needed: the facility had no documents for the patient when the connection was created."
	case export.SuppressedPleaseContact:
		if len(e.Outcome) == 0 {
			return fmt.Sprintf("Nothing could be read: the server failed, or required a longer wait than the "+
				"export's time limit. Its log line has the class: %s.", probe)
		}
		return fmt.Sprintf("Too little of the record could be read, for the reasons in outcome. Once the server has "+
			"recovered, the organisation can request another export: %s.", probe)
	}
	return fmt.Sprintf("Its reason is unknown. Check the connection: %s.", link)
}
