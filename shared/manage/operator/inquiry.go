package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Inquiries lists and shows patients' inquiries and sends replies. Audit rows never contain patients' messages, which
// are personal data.
type Inquiries struct {
	service OrganisationLister
	rows    InquiryRows
	inbox   inquiry.Inbox
	by      Journal
}

// NewInquiries returns an Inquiries. The inbox argument must use the same rows as the returned Inquiries.
func NewInquiries(service OrganisationLister, rows InquiryRows, inbox inquiry.Inbox, by Journal) Inquiries {
	return Inquiries{service: service, rows: rows, inbox: inbox, by: by}
}

// As returns a copy of o that records actor in audit rows.
func (o Inquiries) As(actor string) Inquiries {
	o.by = o.by.As(actor)
	return o
}

// InquiryRows lists inquiries.
type InquiryRows interface {
	// InquiriesBefore returns the cursors of a tenant's inquiries, as ExportRows.TasksBefore does for tasks.
	InquiriesBefore(ctx context.Context, tenant org.Tenant, before string, limit int) (found []string,
		more bool, err error)
}

// InquiryQuery selects the inquiries that match all of its non-empty fields.
type InquiryQuery struct {
	Paging

	Status inquiry.Status
	Kind   inquiry.Kind
}

// InquiryPage is one page of a list of inquiries. Next has the same meaning as in ConnectionPage.
type InquiryPage struct {
	Inquiries []inquiry.Inquiry
	Next      string
}

// List returns a tenant's inquiries, newest first. It returns fault.Invalid or fault.NotFound on failure.
func (o Inquiries) List(ctx context.Context, tenant org.Tenant, q InquiryQuery) (InquiryPage, error) {
	p, err := q.checkedInquiries()
	if err != nil {
		return InquiryPage{}, err
	}
	if _, err = findOrganisation(ctx, o.service, tenant); err != nil {
		return InquiryPage{}, err
	}
	return o.list(ctx, tenant, q, p)
}

// InquiryQueue holds inquiries from every organisation.
type InquiryQueue struct {
	Inquiries []inquiry.Inquiry // newest first
	Cut       []org.Tenant      // tenants with more inquiries than the limit
}

// Queue returns the inquiries of every organisation in both modes. The limit in q applies separately to each
// organisation and mode. Queue returns fault.Invalid for an invalid query.
func (o Inquiries) Queue(ctx context.Context, q InquiryQuery) (InquiryQueue, error) {
	p, err := q.checkedInquiries()
	if err != nil {
		return InquiryQueue{}, err
	}
	if p.After != "" {
		return InquiryQueue{}, fault.BadRequest("A cursor is valid only for one organisation's list.").About("after")
	}
	tenants, err := o.service.Tenants(ctx)
	if err != nil {
		return InquiryQueue{}, fmt.Errorf("list organisations: %w", err)
	}
	queue := InquiryQueue{Inquiries: []inquiry.Inquiry{}, Cut: []org.Tenant{}}
	for _, tenant := range tenants {
		page, err := o.list(ctx, tenant, q, p)
		if err != nil {
			return InquiryQueue{}, err
		}
		queue.Inquiries = append(queue.Inquiries, page.Inquiries...)
		if page.Next != "" {
			queue.Cut = append(queue.Cut, tenant)
		}
	}
	slices.SortStableFunc(queue.Inquiries, func(a, b inquiry.Inquiry) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return queue, nil
}

func (q InquiryQuery) checkedInquiries() (Paging, error) {
	p, err := q.checked()
	if err != nil {
		return Paging{}, err
	}
	if _, ok := inquiry.ParseStatus(string(q.Status)); !ok && q.Status != "" {
		return Paging{}, fault.BadRequest("The status must be open, answered or closed.").About("status")
	}
	if _, ok := inquiry.ParseKind(string(q.Kind)); !ok && q.Kind != "" {
		return Paging{}, fault.BadRequest("The kind must be support or health_system.").About("kind")
	}
	return p, nil
}

// Show returns an inquiry with its replies. It returns fault.NotFound if the inquiry does not exist.
func (o Inquiries) Show(ctx context.Context, tenant org.Tenant, id string) (inquiry.Inquiry, error) {
	return o.inbox.Show(ctx, tenant, id)
}

// Move changes an inquiry's status. It returns fault.Invalid, fault.NotFound or fault.Conflict on failure.
func (o Inquiries) Move(ctx context.Context, tenant org.Tenant, id, status string) (inquiry.Inquiry, error) {
	to, ok := inquiry.ParseStatus(status)
	if !ok {
		return inquiry.Inquiry{}, fault.BadRequest("The status must be open, answered or closed.").About("status")
	}
	i, isMoved, err := o.inbox.Move(ctx, tenant, id, to)
	if err != nil || !isMoved {
		return i, err
	}
	return i, o.by.record(ctx, tenant, "inquiry.moved", i.ID+" "+string(to))
}

// Answer emails a reply to a patient. If the same reply is submitted repeatedly, Answer sends it only once. Answer
// returns the same errors as inquiry.Inbox.Answer.
func (o Inquiries) Answer(ctx context.Context, tenant org.Tenant, id, text string) (inquiry.Inquiry, error) {
	return o.answer(ctx, tenant, id, text, false)
}

// AnswerAsOperator is like Answer, but replies on behalf of the service's operator.
func (o Inquiries) AnswerAsOperator(ctx context.Context, tenant org.Tenant, id, text string) (inquiry.Inquiry, error) {
	return o.answer(ctx, tenant, id, text, true)
}

func (o Inquiries) list(ctx context.Context, tenant org.Tenant, q InquiryQuery,
	p Paging,
) (page InquiryPage, err error) {
	page.Inquiries, page.Next, err = collect(p, func(after string, limit int) ([]string, bool, error) {
		return o.rows.InquiriesBefore(ctx, tenant, after, limit)
	}, func(id string) (i inquiry.Inquiry, isWanted bool, err error) {
		i, err = o.inbox.Show(ctx, tenant, id)
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

func (o Inquiries) answer(ctx context.Context, tenant org.Tenant, id, text string,
	asOperator bool,
) (inquiry.Inquiry, error) {
	host, err := findOrganisation(ctx, o.service, tenant)
	if err != nil {
		return inquiry.Inquiry{}, err
	}
	from := inquiry.Author{Host: host, By: o.by.actor, AsOperator: asOperator}
	i, isSent, err := o.inbox.Answer(ctx, from, tenant, id, text)
	if isSent {
		err = errors.Join(err, o.by.record(ctx, tenant, "inquiry.answered", i.ID))
	}
	return i, err
}
