package operator

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Length limits, in characters, for an organisation's purpose and an operator's reason.
const (
	minPurpose = 20
	maxPurpose = 1000
	maxReason  = 500
)

// LiveStep identifies a condition that an organisation must meet before requesting live mode (docs/openapi.yaml,
// LiveAccess).
type LiveStep string

// Conditions for requesting live mode. Accepting the terms and stating a purpose are not listed, because they are part
// of the request itself.
const (
	LivePrivacyPolicy LiveStep = "privacy_policy"          // the organisation has a privacy policy for patients
	LiveNoticeAddress LiveStep = "notice_address_verified" // at least one notice address is verified
	LiveOwners        LiveStep = "owners_two_factor"       // every owner has a passkey or an authenticator app
	LiveWebhook       LiveStep = "webhook_verified"        // a receiver has accepted a delivery in test mode
)

// LiveCheck reports whether an organisation meets a condition for live mode.
type LiveCheck struct {
	Step LiveStep
	Done bool
}

// LiveAccess requests live mode on behalf of organisations.
type LiveAccess struct {
	orgEditor

	owners OwnerCheck
	log    DeliverySearch
}

// OwnerCheck checks an organisation's owners. members.Service implements it.
type OwnerCheck interface {
	// OwnersSecured reports whether every owner has a second factor.
	OwnersSecured(ctx context.Context, orgID string) (bool, error)
}

// NewLiveAccess returns a LiveAccess with the given dependencies.
func NewLiveAccess(rows OrganisationSaver, owners OwnerCheck, log DeliverySearch, by Journal) LiveAccess {
	return LiveAccess{orgEditor: orgEditor{saver: rows, by: by}, owners: owners, log: log}
}

// As returns a copy of o that records actor in audit rows.
func (o LiveAccess) As(actor string) LiveAccess {
	o.by = o.by.As(actor)
	return o
}

// Checklist reports whether an organisation meets each condition for requesting live mode.
func (o LiveAccess) Checklist(ctx context.Context, of org.Organisation) ([]LiveCheck, error) {
	hasSecured, err := o.owners.OwnersSecured(ctx, of.ID)
	if err != nil {
		return nil, fmt.Errorf("look at the owners' second factors: %w", err)
	}
	query := deliverylog.Query{Status: webhook.Delivered, Limit: 1}
	delivered, err := o.log.Search(ctx, org.Tenant{Mode: org.Test, OrgID: of.ID}, query)
	if err != nil {
		return nil, fmt.Errorf("look for a delivery: %w", err)
	}
	return []LiveCheck{
		{LivePrivacyPolicy, of.PrivacyPolicyURI != ""},
		{LiveNoticeAddress, len(of.VerifiedEmails) > 0},
		{LiveOwners, hasSecured},
		{LiveWebhook, len(delivered.Entries) > 0},
	}, nil
}

// Request requests live mode for an organisation that meets every condition. The request accepts the terms of live mode
// on the organisation's behalf. Request returns fault.Invalid or fault.NotFound on failure. It returns fault.Conflict
// if a condition is not met or if the organisation has already requested or been granted live mode.
func (o LiveAccess) Request(
	ctx context.Context, tenant org.Tenant, accountID, purpose string,
) (org.Organisation, error) {
	purpose = oneLine(purpose)
	if n := utf8.RuneCountInString(purpose); n < minPurpose || n > maxPurpose {
		return org.Organisation{}, fault.BadRequest(
			fmt.Sprintf("Describe the purpose in %d to %d characters.", minPurpose, maxPurpose)).About("purpose")
	}
	return o.save(ctx, tenant, "live_access.requested", func(found *org.Organisation) error {
		if found.LiveAccess == org.LiveGranted || found.LiveAccess == org.LiveRequested {
			return refused(fmt.Sprintf("Live mode is already %s.", found.LiveAccess))
		}
		checks, err := o.Checklist(ctx, *found)
		if err != nil {
			return err
		}
		for _, check := range checks {
			if !check.Done {
				return fault.New(fault.Conflict, fault.CodeConflict, "The checklist is "+
					"incomplete.").About(string(check.Step))
			}
		}
		found.LiveAccess = org.LiveRequested
		found.LiveReview = org.LiveReview{
			Purpose: purpose, RequestedBy: accountID, RequestedAt: o.by.now(), DecidedAt: found.LiveReview.DecidedAt,
		}
		return nil
	})
}

// oneLine returns text as a single line without control or invisible characters.
func oneLine(text string) string {
	shown := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r):
			return -1
		case unicode.IsControl(r):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return strings.Join(strings.Fields(shown), " ")
}
