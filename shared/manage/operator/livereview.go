package operator

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// LiveReviews approves and refuses organisations' requests for live mode, and withdraws live mode.
type LiveReviews struct {
	orgEditor

	rows    LiveReviewRows
	access  LiveAccess
	catalog Catalog
	notices Notices
}

// LiveReviewRows stores organisations.
type LiveReviewRows interface {
	OrganisationSaver
	TenantLister
}

// NewLiveReviews returns a LiveReviews that compares organisations with each other and with the institutions in
// catalog.
func NewLiveReviews(rows LiveReviewRows, access LiveAccess, catalog Catalog, notices Notices, by Journal) LiveReviews {
	return LiveReviews{
		orgEditor: orgEditor{saver: rows, by: by}, rows: rows, access: access, catalog: catalog, notices: notices,
	}
}

// LiveRequest holds an organisation's request for live mode and the information needed for a decision.
type LiveRequest struct {
	Organisation org.Organisation
	Checks       []LiveCheck // whether each condition is currently met
	Alike        []Alike
}

// List returns the organisations whose requests for live mode await an operator's decision.
func (o LiveReviews) List(ctx context.Context) ([]LiveRequest, error) {
	listed, err := listOrganisations(ctx, o.rows)
	if err != nil {
		return nil, err
	}
	all, err := o.faces(ctx)
	if err != nil {
		return nil, err
	}
	waiting := []LiveRequest{}
	for _, l := range listed {
		if l.Tenant.Mode != org.Live || l.Organisation.LiveAccess != org.LiveRequested {
			continue
		}
		checks, err := o.access.Checklist(ctx, l.Organisation)
		if err != nil {
			return nil, err
		}
		waiting = append(
			waiting, LiveRequest{Organisation: l.Organisation, Checks: checks, Alike: alike(l.Organisation, all)},
		)
	}
	return waiting, nil
}

// Approve grants live mode to an organisation and notifies it by email. The organisation need not have requested live
// mode. If the organisation resembles another organisation or a catalogue institution, isCompared must be set to
// confirm that the operator has compared them. Approve returns fault.NotFound or fault.Conflict on failure.
func (o LiveReviews) Approve(ctx context.Context, tenant org.Tenant, isCompared bool) (org.Organisation, error) {
	return o.decide(ctx, tenant, decision{
		stage: org.LiveGranted, action: "live_access.approved", notice: notice.LiveApproved,
		check: func(found org.Organisation) error {
			if found.LiveAccess == org.LiveGranted {
				return refused("The organisation already has live mode.")
			}
			if isCompared {
				return nil
			}
			all, err := o.faces(ctx)
			if err == nil && len(alike(found, all)) > 0 {
				err = refused(
					"Other organisations look similar. Compare them with organisation list -requests, then approve with " +
						"-compared.",
				)
			}
			return err
		},
	})
}

// Refuse rejects an organisation's request for live mode and notifies the organisation by email. Members of the
// organisation can read the reason. Refuse returns fault.Invalid, fault.NotFound or fault.Conflict on failure.
func (o LiveReviews) Refuse(ctx context.Context, tenant org.Tenant, reason string) (org.Organisation, error) {
	return o.decide(ctx, tenant, decision{
		stage: org.LiveNone, reason: &reason, action: "live_access.refused", notice: notice.LiveRefused,
		check: func(found org.Organisation) error {
			if found.LiveAccess != org.LiveRequested {
				return refused("The organisation has not requested live mode.")
			}
			return nil
		},
	})
}

// Withdraw revokes an organisation's live mode, effective within 30 seconds, and notifies the organisation by email.
// Members of the organisation can read the reason. Operations in progress finish as they do for a suspended
// organisation (docs/operate/organisations.md, "Live mode"). Withdraw returns fault.Invalid, fault.NotFound or
// fault.Conflict on failure.
func (o LiveReviews) Withdraw(ctx context.Context, tenant org.Tenant, reason string) (org.Organisation, error) {
	return o.decide(ctx, tenant, decision{
		stage: org.LiveWithdrawn, reason: &reason, action: "live_access.withdrawn", notice: notice.LiveWithdrawn,
		check: func(found org.Organisation) error {
			if found.LiveAccess != org.LiveGranted {
				return refused("The organisation does not have live mode.")
			}
			return nil
		},
	})
}

type decision struct {
	stage  org.LiveAccess
	reason *string // reason for the decision; nil if not required
	action string
	notice func(org.Organisation, time.Time) notice.Notice
	check  func(org.Organisation) error
}

func (o LiveReviews) decide(ctx context.Context, tenant org.Tenant, d decision) (org.Organisation, error) {
	var reason string
	if d.reason != nil {
		reason = oneLine(*d.reason)
		if reason == "" || utf8.RuneCountInString(reason) > maxReason {
			return org.Organisation{}, fault.BadRequest(
				fmt.Sprintf("A reason of 1 to %d characters is required.", maxReason),
			).About("reason")
		}
	}
	decided, err := o.save(ctx, tenant, d.action, func(found *org.Organisation) error {
		if err := d.check(*found); err != nil {
			return err
		}
		found.LiveAccess, found.LiveReview.Reason, found.LiveReview.DecidedAt = d.stage, reason, o.by.now()
		return nil
	})
	if err != nil {
		return org.Organisation{}, err
	}
	return decided, notify(ctx, o.notices, decided, d.notice(decided, decided.LiveReview.DecidedAt))
}
