package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/deletion"
	"recordbridge/shared/fault"
	"recordbridge/shared/mailtext"
	"recordbridge/shared/org"
)

// Deletions asks for organisations to be deleted (deletion.Requests).
type Deletions interface {
	// Request has an organisation deleted after a waiting time. It calls announce with a new deletion before it stores it.
	Request(ctx context.Context, orgID, actor string, claims []string, announce func(deletion.Deletion) error) (deletion.Deletion, error)
	// Cancel ends a deletion that has not begun; fault.NotFound and fault.Conflict.
	Cancel(ctx context.Context, orgID string) (deletion.Deletion, error)
	// Show reads a deletion; fault.NotFound.
	Show(ctx context.Context, orgID string) (deletion.Deletion, error)
}

// Delete schedules the deletion of an organisation and all its data, which owners can cancel for a week, or returns the one under
// way. name confirms it. Members and verified notice addresses are told before it is stored. Errors are fault.Invalid, fault.NotFound,
// fault.Conflict and fault.Limited.
func (o Organisations) Delete(ctx context.Context, tenant org.Tenant, name string) (deletion.Deletion, error) {
	found, err := o.organisation(ctx, tenant)
	if err != nil {
		return deletion.Deletion{}, err
	}
	if strings.TrimSpace(name) != found.Name {
		return deletion.Deletion{}, fault.BadRequest("Repeat the organisation's exact name to delete it.").About("name")
	}
	claims, err := o.claims(ctx, found)
	if err != nil {
		return deletion.Deletion{}, err
	}
	return o.deps.Deletions.Request(ctx, tenant.OrgID, o.deps.Actor, claims, func(d deletion.Deletion) error {
		if err := o.record(ctx, tenant, "organisation.deletion_requested", tenant.OrgID); err != nil {
			return err
		}
		return o.deps.Members.Tell(ctx, tenant.OrgID, found.VerifiedEmails, deletionRequested(found.Name, d.BeginsAt))
	})
}

// CancelDeletion keeps an organisation whose deletion has not begun. Errors are fault.NotFound and fault.Conflict.
func (o Organisations) CancelDeletion(ctx context.Context, tenant org.Tenant) error {
	found, err := o.organisation(ctx, tenant)
	if err != nil {
		return err
	}
	if _, err := o.deps.Deletions.Cancel(ctx, tenant.OrgID); err != nil {
		return err
	}
	if err := o.record(ctx, tenant, "organisation.deletion_cancelled", tenant.OrgID); err != nil {
		return err
	}
	return o.deps.Members.Tell(ctx, tenant.OrgID, found.VerifiedEmails, deletionCancelled(found.Name))
}

// Deletion shows how the deletion of an organisation stands, for 90 days after its end. Errors are fault.NotFound.
func (o Organisations) Deletion(ctx context.Context, tenant org.Tenant) (deletion.Deletion, error) {
	return o.deps.Deletions.Show(ctx, tenant.OrgID)
}

// claims returns the mail domains that an organisation may have claimed: those of its members and of its addresses for notices.
func (o Organisations) claims(ctx context.Context, of org.Organisation) ([]string, error) {
	all, err := o.deps.Members.List(ctx, of.ID)
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

// isDeleting reports whether an organisation's deletion has begun.
func (o Organisations) isDeleting(ctx context.Context, orgID string) (bool, error) {
	d, err := o.deps.Deletions.Show(ctx, orgID)
	if errors.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil && !d.CanCancel(o.deps.Now()), err
}

const whoMayDelete = "This goes to all members of the organisation and to its verified addresses for notices."

func deletionRequested(name string, begins time.Time) mailtext.Message {
	return mailtext.Message{
		Language: "en", Subject: "Recordbridge: your organisation will be deleted",
		Opening: []string{"An owner of your organisation, or whoever runs Recordbridge for you, asked to delete it. Until the deletion begins, everything keeps working and any owner can cancel it in the dashboard, under Branding."},
		Facts:   []mailtext.Fact{{Name: "Organisation", Value: mailtext.Plain(name)}, {Name: "The deletion begins", Value: begins.UTC().Format("2006-01-02 15:04 UTC")}},
		Closing: []string{
			"Then its API keys and webhooks stop, all patients are disconnected, and its connections, exports, files, events and members are deleted. This can't be undone. The audit log is kept.",
			"If nobody in your organisation asked for this, have an owner cancel it, end all sessions and look at the audit log.",
		},
		Reason: whoMayDelete,
	}
}

func deletionCancelled(name string) mailtext.Message {
	return mailtext.Message{
		Language: "en", Subject: "Recordbridge: your organisation will not be deleted",
		Opening: []string{"The deletion of your organisation was cancelled. Nothing was deleted."},
		Facts:   []mailtext.Fact{{Name: "Organisation", Value: mailtext.Plain(name)}},
		Reason:  whoMayDelete,
	}
}
