package operator

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"recordbridge/shared/deliverylog"
	"recordbridge/shared/fault"
	"recordbridge/shared/notice"
	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
	"recordbridge/shared/weburl"
)

// Bounds in characters on what an organisation says its live mode is for, and on an operator's reason.
const (
	minPurpose = 20
	maxPurpose = 1000
	maxReason  = 500
)

// LiveStep is a condition for requesting live mode (docs/openapi.yaml, LiveAccess).
type LiveStep string

// The conditions. The request itself accepts the terms and states the purpose.
const (
	LivePrivacyPolicy LiveStep = "privacy_policy"          // patients can read one
	LiveNoticeAddress LiveStep = "notice_address_verified" // at least one of the addresses for notices
	LiveOwners        LiveStep = "owners_two_factor"       // every owner has a passkey or an authenticator app
	LiveWebhook       LiveStep = "webhook_verified"        // a receiver accepted a delivery in test mode
)

// LiveCheck is a condition with its state.
type LiveCheck struct {
	Step LiveStep
	Done bool
}

// LiveChecklist returns the state of every condition for requesting live mode.
func (o Organisations) LiveChecklist(ctx context.Context, of org.Organisation) ([]LiveCheck, error) {
	hasSecured, err := o.deps.Members.OwnersSecured(ctx, of.ID)
	if err != nil {
		return nil, fmt.Errorf("look at the owners' second factors: %w", err)
	}
	query := deliverylog.Query{Status: webhook.Delivered, Limit: 1}
	delivered, err := o.deps.Log.Search(ctx, org.Tenant{Mode: org.Test, OrgID: of.ID}, query)
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

// RequestLive requests live mode for an organisation that meets every condition. A request accepts the terms of live mode. Errors are
// fault.Invalid, fault.NotFound, and fault.Conflict if a condition is not met or the organisation has live mode or a request already.
func (o Organisations) RequestLive(ctx context.Context, tenant org.Tenant, accountID, purpose string) (org.Organisation, error) {
	purpose = oneLine(purpose)
	if n := utf8.RuneCountInString(purpose); n < minPurpose || n > maxPurpose {
		return org.Organisation{}, fault.BadRequest(fmt.Sprintf("Describe the purpose in %d to %d characters.", minPurpose, maxPurpose)).About("purpose")
	}
	return o.save(ctx, tenant, "live_access.requested", func(found *org.Organisation) error {
		if found.LiveAccess == org.LiveGranted || found.LiveAccess == org.LiveRequested {
			return refused(fmt.Sprintf("Live mode is already %s.", found.LiveAccess))
		}
		checks, err := o.LiveChecklist(ctx, *found)
		if err != nil {
			return err
		}
		for _, check := range checks {
			if !check.Done {
				return fault.New(fault.Conflict, fault.CodeConflict, "The checklist is not complete.").About(string(check.Step))
			}
		}
		found.LiveAccess = org.LiveRequested
		found.LiveReview = org.LiveReview{
			Purpose: purpose, RequestedBy: accountID, RequestedAt: o.deps.Now(), DecidedAt: found.LiveReview.DecidedAt,
		}
		return nil
	})
}

// ApproveLive grants live mode to an organisation, whether it requested it or not, and has it told by e-mail. If anything about it looks like
// another organisation or an institution of the catalogue, the operator has to have compared them. Errors are fault.NotFound and
// fault.Conflict.
func (o Organisations) ApproveLive(ctx context.Context, tenant org.Tenant, isCompared bool) (org.Organisation, error) {
	return o.decideLive(ctx, tenant, decision{
		stage: org.LiveGranted, action: "live_access.approved", notice: notice.LiveApproved,
		check: func(found org.Organisation) error {
			if found.LiveAccess == org.LiveGranted {
				return refused("The organisation has live mode already.")
			}
			if isCompared {
				return nil
			}
			all, err := o.faces(ctx)
			if err == nil && len(alike(found, all)) > 0 {
				err = refused("Others look like this organisation. Compare them with organisation requests, then approve it with -compared.")
			}
			return err
		},
	})
}

// RefuseLive refuses an organisation's request for live mode with a reason that its members read, and has it told by e-mail. Errors are
// fault.Invalid, fault.NotFound and fault.Conflict.
func (o Organisations) RefuseLive(ctx context.Context, tenant org.Tenant, reason string) (org.Organisation, error) {
	return o.decideLive(ctx, tenant, decision{
		stage: org.LiveNone, reason: &reason, action: "live_access.refused", notice: notice.LiveRefused,
		check: func(found org.Organisation) error {
			if found.LiveAccess != org.LiveRequested {
				return refused("The organisation has not requested live mode.")
			}
			return nil
		},
	})
}

// WithdrawLive takes live mode from an organisation within 30 seconds, with a reason that its members read, and has it told by e-mail. What
// has begun ends as for a suspended organisation (docs/operations.md, "Live mode"). Errors are fault.Invalid, fault.NotFound and
// fault.Conflict.
func (o Organisations) WithdrawLive(ctx context.Context, tenant org.Tenant, reason string) (org.Organisation, error) {
	return o.decideLive(ctx, tenant, decision{
		stage: org.LiveWithdrawn, reason: &reason, action: "live_access.withdrawn", notice: notice.LiveWithdrawn,
		check: func(found org.Organisation) error {
			if found.LiveAccess != org.LiveGranted {
				return refused("The organisation does not have live mode.")
			}
			return nil
		},
	})
}

// decision is an operator's decision on an organisation's live mode.
type decision struct {
	stage  org.LiveAccess
	reason *string // nil: it needs none
	action string
	notice func(org.Organisation, time.Time) notice.Notice
	check  func(org.Organisation) error
}

func (o Organisations) decideLive(ctx context.Context, tenant org.Tenant, d decision) (org.Organisation, error) {
	var reason string
	if d.reason != nil {
		reason = oneLine(*d.reason)
		if reason == "" || utf8.RuneCountInString(reason) > maxReason {
			return org.Organisation{}, fault.BadRequest(fmt.Sprintf("Give a reason of at most %d characters.", maxReason)).About("reason")
		}
	}
	decided, err := o.save(ctx, tenant, d.action, func(found *org.Organisation) error {
		if err := d.check(*found); err != nil {
			return err
		}
		found.LiveAccess, found.LiveReview.Reason, found.LiveReview.DecidedAt = d.stage, reason, o.deps.Now()
		return nil
	})
	if err != nil {
		return org.Organisation{}, err
	}
	return decided, o.tell(ctx, decided, d.notice(decided, decided.LiveReview.DecidedAt))
}

// ChangeOwn is Change for members of the organisation. What an operator reviews stays as it is from the request for live mode on: the
// name, the logo and the website; the privacy policy can change, but not go. Errors are those of Change.
func (o Organisations) ChangeOwn(ctx context.Context, tenant org.Tenant, change OrganisationChange) (org.Organisation, error) {
	change.own = true
	return o.change(ctx, tenant, change)
}

// checkReviewed refuses a member's change to a field that an operator has reviewed or is about to review. It compares URLs in the form
// in which they are shown: the dashboard sends that form back, and an earlier release may have stored another spelling.
func checkReviewed(own weburl.Own, was, is org.Organisation) error {
	if was.LiveAccess != org.LiveGranted && was.LiveAccess != org.LiveRequested {
		return nil
	}
	for _, reviewed := range []struct{ field, was, is string }{
		{"name", was.Name, is.Name},
		{"logo", own.Shown(was.LogoURI), own.Shown(is.LogoURI)},
		{"website", own.Shown(was.WebsiteURI), own.Shown(is.WebsiteURI)},
	} {
		if reviewed.was != reviewed.is {
			return fault.New(fault.Conflict, fault.CodeConflict,
				"Name, logo and website are part of the review for live mode. Ask the operator of Recordbridge to change them.").About(reviewed.field)
		}
	}
	if was.PrivacyPolicyURI != "" && is.PrivacyPolicyURI == "" {
		return fault.New(fault.Conflict, fault.CodeConflict, "Live mode needs a privacy policy.").About("privacy")
	}
	return nil
}

// oneLine makes one line of what somebody has written, without control characters and marks that cannot be seen.
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
