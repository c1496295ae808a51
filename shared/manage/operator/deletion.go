package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/manage/account/members"
	"recordbridge/shared/manage/deletion"
	"recordbridge/shared/platform/mailtext"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Deletions schedules, cancels and shows organisation deletions.
type Deletions struct {
	rows     OrganisationReader
	requests DeletionRequests
	members  DeletionMembers
	by       Journal
}

// DeletionMembers lists and notifies the members of an organisation. members.Service implements it.
type DeletionMembers interface {
	List(ctx context.Context, orgID string) ([]members.Member, error)
	// NotifyMembers sends an email to every member and to the given additional addresses.
	NotifyMembers(ctx context.Context, orgID string, others []string, m mailtext.Message) error
}

// DeletionRequests stores organisation deletions. deletion.Requests implements it.
type DeletionRequests interface {
	DeletionReader
	// Request schedules the deletion of an organisation after a waiting period. It calls announce before storing a new
	// deletion.
	Request(ctx context.Context, orgID, actor string, claims []string,
		announce func(deletion.Deletion) error) (deletion.Deletion, error)
	// Cancel cancels a deletion that has not begun. The error is fault.NotFound or fault.Conflict.
	Cancel(ctx context.Context, orgID string) (deletion.Deletion, error)
}

// NewDeletions returns a Deletions with the given dependencies.
func NewDeletions(rows OrganisationReader, requests DeletionRequests, all DeletionMembers, by Journal) Deletions {
	return Deletions{rows: rows, requests: requests, members: all, by: by}
}

// As returns a copy of o that records actor in audit rows.
func (o Deletions) As(actor string) Deletions {
	o.by = o.by.As(actor)
	return o
}

// Request schedules the deletion of an organisation and all its data. It returns a deletion that is already scheduled
// or in progress. Owners can cancel the deletion for one week. name must repeat the organisation's name. Members and
// verified notice addresses are notified before the deletion is stored. The error is fault.Invalid, fault.NotFound,
// fault.Conflict or fault.Limited.
func (o Deletions) Request(ctx context.Context, tenant org.Tenant, name string) (deletion.Deletion, error) {
	found, err := findOrganisation(ctx, o.rows, tenant)
	if err != nil {
		return deletion.Deletion{}, err
	}
	if strings.TrimSpace(name) != found.Name {
		return deletion.Deletion{}, fault.BadRequest("To delete the organisation, repeat its exact name.").About("name")
	}
	claims, err := o.claims(ctx, found)
	if err != nil {
		return deletion.Deletion{}, err
	}
	return o.requests.Request(ctx, tenant.OrgID, o.by.actor, claims, func(d deletion.Deletion) error {
		if err := o.by.record(ctx, tenant, "organisation.deletion_requested", tenant.OrgID); err != nil {
			return err
		}
		return o.members.NotifyMembers(ctx, tenant.OrgID, found.VerifiedEmails, deletionRequested(found.Name, d.BeginsAt))
	})
}

// Cancel cancels an organisation's deletion if it has not begun. The error is fault.NotFound or fault.Conflict.
func (o Deletions) Cancel(ctx context.Context, tenant org.Tenant) error {
	found, err := findOrganisation(ctx, o.rows, tenant)
	if err != nil {
		return err
	}
	if _, err := o.requests.Cancel(ctx, tenant.OrgID); err != nil {
		return err
	}
	if err := o.by.record(ctx, tenant, "organisation.deletion_cancelled", tenant.OrgID); err != nil {
		return err
	}
	return o.members.NotifyMembers(ctx, tenant.OrgID, found.VerifiedEmails, deletionCancelled(found.Name))
}

// Show returns an organisation's deletion until 90 days after its end. It returns fault.NotFound if the organisation
// has no deletion.
func (o Deletions) Show(ctx context.Context, tenant org.Tenant) (deletion.Deletion, error) {
	return o.requests.Show(ctx, tenant.OrgID)
}

// claims returns the email domains that an organisation may have claimed: the domains of its members and notice
// addresses.
func (o Deletions) claims(ctx context.Context, of org.Organisation) ([]string, error) {
	all, err := o.members.List(ctx, of.ID)
	if err != nil {
		return nil, fmt.Errorf("list members: %w", err)
	}
	addresses := slices.Clone(of.Emails)
	for _, m := range all {
		addresses = append(addresses, m.Email)
	}
	claims := make([]string, 0, len(addresses))
	for _, address := range addresses {
		_, domain, _ := strings.Cut(address, "@")
		claims = append(claims, strings.ToLower(domain))
	}
	slices.Sort(claims)
	return slices.Compact(claims), nil
}

const whoMayDelete = "We send this email to all members of the organisation and to its verified notice addresses."

func deletionRequested(name string, begins time.Time) mailtext.Message {
	return mailtext.Message{
		Language: "en", Subject: "Recordbridge: your organisation will be deleted",
		Opening: []string{"An owner of your organisation or your Recordbridge operator requested the organisation's " +
			"deletion. Until the deletion starts, everything keeps working, and any owner can cancel the deletion in the " +
			"dashboard, under Branding."},
		Facts: []mailtext.Fact{
			{Name: "Organisation", Value: mailtext.Plain(name)},
			{Name: "Deletion starts", Value: begins.UTC().Format("2006-01-02 15:04 UTC")},
		},
		Closing: []string{
			"When the deletion starts, the organisation's API keys and webhooks will stop working, and all patients will " +
				"be disconnected. Connections, exports, files, events and members will be deleted. The deletion can't be " +
				"undone. The audit log is kept.",
			"If nobody in your organisation requested the deletion, ask an owner to cancel the deletion, end all sessions " +
				"and check the audit log.",
		},
		Reason: whoMayDelete,
	}
}

func deletionCancelled(name string) mailtext.Message {
	return mailtext.Message{
		Language: "en", Subject: "Recordbridge: your organisation will not be deleted",
		Opening: []string{"The deletion of your organisation was cancelled. No data was deleted."},
		Facts:   []mailtext.Fact{{Name: "Organisation", Value: mailtext.Plain(name)}},
		Reason:  whoMayDelete,
	}
}
