package operator

import (
	"context"
	"errors"
	"fmt"

	"recordbridge/shared/fault"
	"recordbridge/shared/inquiry"
	"recordbridge/shared/org"
)

// Inquiries shows what patients have asked of an organisation, and answers them. What patients write is personal: no audit row has any of it.
type Inquiries struct{ *core }

// InquiryParts are what inquiries are read and answered with.
type InquiryParts struct {
	Rows  InquiryRows   // store.Work
	Inbox inquiry.Inbox // over the same rows
}

// InquiryRows lists inquiries.
type InquiryRows interface {
	// InquiriesBefore lists where a tenant's inquiries stand, as ExportRows.TasksBefore.
	InquiriesBefore(ctx context.Context, tenant org.Tenant, before string, limit int) (found []string, more bool, err error)
}

// InquiryQuery says which inquiries are wanted: those that have all that is named.
type InquiryQuery struct {
	Paging

	Status inquiry.Status
	Kind   inquiry.Kind
}

// InquiryPage is a part of a list. Next is as ConnectionPage.Next.
type InquiryPage struct {
	Inquiries []inquiry.Inquiry
	Next      string
}

// List lists a tenant's inquiries, newest first. Errors are fault.Invalid and fault.NotFound.
func (o Inquiries) List(ctx context.Context, tenant org.Tenant, q InquiryQuery) (InquiryPage, error) {
	p, err := q.checked()
	if err != nil {
		return InquiryPage{}, err
	}
	if _, ok := inquiry.ParseStatus(string(q.Status)); !ok && q.Status != "" {
		return InquiryPage{}, fault.BadRequest("The status must be open, answered or closed.").About("status")
	}
	if _, ok := inquiry.ParseKind(string(q.Kind)); !ok && q.Kind != "" {
		return InquiryPage{}, fault.BadRequest("The kind must be support or health_system.").About("kind")
	}
	if _, err = o.organisation(ctx, tenant); err != nil {
		return InquiryPage{}, err
	}
	parts := o.deps.Inquiries
	var page InquiryPage
	page.Inquiries, page.Next, err = collect(p, func(after string, limit int) ([]string, bool, error) {
		return parts.Rows.InquiriesBefore(ctx, tenant, after, limit)
	}, func(id string) (i inquiry.Inquiry, isWanted bool, err error) {
		i, err = parts.Inbox.Show(ctx, tenant, id)
		if errors.Is(err, fault.NotFound) {
			return i, false, nil
		}
		return i, (q.Status == "" || i.Status == q.Status) && (q.Kind == "" || i.Kind() == q.Kind), err
	})
	if err != nil {
		return InquiryPage{}, fmt.Errorf("list inquiries: %w", err)
	}
	return page, nil
}

// Show reads one inquiry with its answers; fault.NotFound.
func (o Inquiries) Show(ctx context.Context, tenant org.Tenant, id string) (inquiry.Inquiry, error) {
	return o.deps.Inquiries.Inbox.Show(ctx, tenant, id)
}

// Move gives an inquiry a status. Errors are fault.Invalid, fault.NotFound and fault.Conflict.
func (o Inquiries) Move(ctx context.Context, tenant org.Tenant, id, status string) (inquiry.Inquiry, error) {
	to, ok := inquiry.ParseStatus(status)
	if !ok {
		return inquiry.Inquiry{}, fault.BadRequest("The status must be open, answered or closed.").About("status")
	}
	i, isMoved, err := o.deps.Inquiries.Inbox.Move(ctx, tenant, id, to)
	if err != nil || !isMoved {
		return i, err
	}
	return i, o.record(ctx, tenant, "inquiry.moved", i.ID+" "+string(to))
}

// Answer has a patient answered by e-mail, once however often the same text is sent. Errors are those of inquiry.Inbox.Answer.
func (o Inquiries) Answer(ctx context.Context, tenant org.Tenant, id, text string) (inquiry.Inquiry, error) {
	host, err := o.organisation(ctx, tenant)
	if err != nil {
		return inquiry.Inquiry{}, err
	}
	i, isSent, err := o.deps.Inquiries.Inbox.Answer(ctx, host, tenant, id, o.deps.Actor, text)
	if isSent {
		err = errors.Join(err, o.record(ctx, tenant, "inquiry.answered", i.ID))
	}
	return i, err
}
