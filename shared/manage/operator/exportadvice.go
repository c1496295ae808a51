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

// maxNamed limits the resource types that a sentence names.
const maxNamed = 12

// untakenAfter is the time that a pending export may wait for its first worker: a lost message is resent within a
// minute.
const untakenAfter = 5 * time.Minute

// adviseExport returns the recommended action for an export at a time, in one sentence. c is its connection, which is
// zero if it was removed.
func adviseExport(e Export, c Connection, now time.Time) string {
	endpointID := c.EndpointID
	of := fmt.Sprintf("-org %s -mode %s", e.Tenant.OrgID, e.Tenant.Mode)
	probe := fmt.Sprintf("ctl endpoint test -id %s %s -token-request", endpointID, of)
	link := fmt.Sprintf("ctl connection show %s -id %s", of, e.ConnectionID)
	if endpointID == "" {
		probe = link // which finds the problem
	}
	switch {
	case len(e.Damaged) > 0:
		return adviseDamaged(e.Damaged)
	case e.Status == export.Pending:
		return advisePending(e, probe, now)
	case e.Status == export.Failed:
		return adviseFailed(e, probe, link)
	case e.Status != export.Success:
		return "Its status is none that there is: restore the row from the table's backup."
	case slices.ContainsFunc(e.Deliveries, undelivered):
		return fmt.Sprintf("Its event has not reached every webhook: ctl webhook log %s -delivery %s.", of, e.EventID)
	case len(notRequested(e)) > 0:
		return adviseRequest(notRequested(e), probe)
	case slices.ContainsFunc(e.Outcome, func(t export.TypeOutcome) bool { return t.Reason == export.LossRefused }):
		return fmt.Sprintf("The portal refuses types that the patient has granted; see which our registration has there: %s.",
			probe)
	case !now.Before(e.FilesUntil):
		return "Its files have been deleted; the organisation asks for a new export."
	case e.Shortfall().Complete != nil:
		return "The record is not whole, for the reasons in missing; the organisation may ask again."
	}
	return "Nothing."
}

func undelivered(d deliverylog.Entry) bool {
	return d.Status == webhook.Exhausted || d.Status == webhook.Held
}

func advisePending(e Export, probe string, now time.Time) string {
	switch {
	case !e.WaitingSince.IsZero():
		return "It waits in line, since its organisation has as many exports under way as one may have; it goes on by " +
			"itself when its turn comes."
	case now.Sub(e.Began()) > export.Budget:
		return "It is pending for longer than an export may be; does exportworker run: docs/operate/runbooks/export-queue-age.md."
	case e.Failures > 0 && !e.NextAt.IsZero():
		return fmt.Sprintf("Its last try failed; it goes on by itself at %s, and fails after five in a row: %s.",
			timestamp.Of(e.NextAt), probe)
	case e.PutOff && e.NextAt.After(now):
		return fmt.Sprintf("It is put off, usually because its server demands a wait; it continues at %s.",
			timestamp.Of(e.NextAt))
	case e.Generation == 0 && now.Sub(e.CreatedAt) > untakenAfter:
		return "No worker has taken it up yet: docs/operate/runbooks/export-queue-age.md."
	}
	return "Nothing; it goes on by itself."
}

// adviseRequest explains how to request types that an authorization request did not name.
func adviseRequest(types []string, probe string) string {
	shown := types[:min(len(types), maxNamed)]
	names := strings.Join(shown, ", ")
	if more := len(types) - len(shown); more > 0 {
		names = fmt.Sprintf("%s and %d more", names, more)
	}
	return fmt.Sprintf("Our authorization request did not name %s: add what the portal offers of it by registration set "+
		"… -scope, or "+
		"endpoint override … 'authorize: {wildcard: false, types: […]}', and have the patient reconnect; what would be "+
		"requested now: %s.", names, probe)
}

func adviseFailed(e Export, probe, link string) string {
	switch e.FailureReason {
	case export.TokenRefreshFailure:
		return fmt.Sprintf("Whether consent has ended, or refreshing fails: %s.", link)
	case export.ScopePatientMissing:
		switch {
		case blameForScope(e) == BlameRegistration && fhir.ParseScopes(e.Scope.Asked).Any():
			return adviseRequest([]string{"Patient"}, probe)
		case blameForScope(e) == BlameRegistration:
			return fmt.Sprintf("What may be read is chosen at registration there, and lacks the Patient: add it, and have the "+
				"patient reconnect: %s.", probe)
		case blameForScope(e) == BlamePortal:
			return fmt.Sprintf("The portal grants the Patient and refuses all else; see what our registration has there: %s.",
				probe)
		}
		return fmt.Sprintf("The patient reconnects and allows the demographics, without which nothing is exported: %s.", link)
	case export.ResourcePatientFailure:
		return fmt.Sprintf("The portal did not give the Patient; see what our registration has there: %s.", probe)
	case export.ResourceInvalidContent:
		return fmt.Sprintf("Tell the institution that its Patient cannot be read; what else is amiss there: %s.", probe)
	case export.TEFCANoDocumentsFound:
		return "Nothing: the facility had no documents of the patient when the connection was made."
	case export.SuppressedPleaseContact:
		if len(e.Outcome) == 0 {
			return fmt.Sprintf("Nothing could be read: the server failed, or demanded a longer wait than the export had time "+
				"for; its log line has the class: %s.", probe)
		}
		return fmt.Sprintf("Too little of the record could be read, for the reasons in outcome; when the server is well "+
			"again, the organisation asks again: %s.", probe)
	}
	return fmt.Sprintf("Its reason is none that there is; look at the connection: %s.", link)
}
