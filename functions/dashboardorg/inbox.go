package dashboardorg

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/timestamp"
)

// Inbox endpoint paths.
const (
	inquiriesRoute = "/dashboard/organisations/{orgId}/{mode}/inquiries"
	inquiryRoute   = "/dashboard/organisations/{orgId}/{mode}/inquiries/{inquiryId}"
	answersRoute   = "/dashboard/organisations/{orgId}/{mode}/inquiries/{inquiryId}/answers"
)

func (d Deps) inbox() map[string]httpapi.Methods {
	return map[string]httpapi.Methods{
		inquiriesRoute: {http.MethodGet: httpapi.Member(d.Auth, account.Inspect, d.inquiries)},
		inquiryRoute: {
			http.MethodGet:   httpapi.Member(d.Auth, account.Inspect, d.inquiry),
			http.MethodPatch: httpapi.Member(d.Auth, account.Operate, d.moveInquiry),
		},
		answersRoute: {http.MethodPost: httpapi.Member(d.Auth, account.Operate, d.answer)},
	}
}

type inquiryWanted struct {
	Status string `query:"status"`
	Kind   string `query:"kind"`
	Cursor string `query:"cursor"`
}

type oneInquiry struct {
	ID string `path:"inquiryId"`
}

type moved struct {
	ID     string `path:"inquiryId"`
	Status string `json:"status" required:"true"`
}

type answering struct {
	ID   string `path:"inquiryId"`
	Text string `json:"text" required:"true"`
}

type inquiryList struct {
	Inquiries []inquiryLine `json:"inquiries"` // newest first
	Next      string        `json:"next,omitempty"`
}

// inquiryLine represents an inquiry in the list. Fields that the patient left empty are omitted.
type inquiryLine struct {
	ID        string `json:"inquiry_id"`
	Kind      string `json:"kind"`
	Status    string `json:"status"`
	Name      string `json:"name,omitempty"` // patient's name, or name of the missing health system
	Subject   string `json:"subject,omitempty"`
	CreatedAt string `json:"created_at"` // RFC 3339 time
}

type inquiryDetail struct {
	inquiryLine

	Email         string   `json:"email,omitempty"`
	EmailVerified bool     `json:"email_verified"`
	Body          string   `json:"body,omitempty"`
	HealthSystem  string   `json:"health_system,omitempty"`
	Website       string   `json:"website,omitempty"`
	StreetAddress string   `json:"street_address,omitempty"`
	Answers       []answer `json:"answers"` // oldest first
}

type answer struct {
	At       string `json:"at"` // RFC 3339 time
	By       string `json:"by"` // actor's name in the audit log
	Text     string `json:"text"`
	Delivery string `json:"delivery"`
}

func (d Deps) inquiries(ctx context.Context, v httpapi.Visitor, in inquiryWanted) (inquiryList, error) {
	page, err := d.Inquiries.List(ctx, v.Tenant, operator.InquiryQuery{
		Paging: operator.Paging{After: in.Cursor}, Status: inquiry.Status(in.Status), Kind: inquiry.Kind(in.Kind),
	})
	if err != nil {
		return inquiryList{}, err
	}
	shown := inquiryList{Inquiries: make([]inquiryLine, 0, len(page.Inquiries)), Next: page.Next}
	for _, i := range page.Inquiries {
		shown.Inquiries = append(shown.Inquiries, inquiryLineOf(i))
	}
	return shown, nil
}

func (d Deps) inquiry(ctx context.Context, v httpapi.Visitor, in oneInquiry) (inquiryDetail, error) {
	return inquiryOf(d.Inquiries.Show(ctx, v.Tenant, in.ID))
}

func (d Deps) moveInquiry(ctx context.Context, v httpapi.Visitor, in moved) (inquiryDetail, error) {
	return inquiryOf(d.Inquiries.As(account.Actor(v.Account)).Move(ctx, v.Tenant, in.ID, in.Status))
}

func (d Deps) answer(ctx context.Context, v httpapi.Visitor, in answering) (inquiryDetail, error) {
	return inquiryOf(d.Inquiries.As(account.Actor(v.Account)).Answer(ctx, v.Tenant, in.ID, in.Text))
}

func inquiryLineOf(i inquiry.Inquiry) inquiryLine {
	return inquiryLine{
		ID: i.ID, Kind: string(i.Kind()), Status: string(i.Status), Name: i.Name, Subject: i.Subject,
		CreatedAt: timestamp.Of(i.CreatedAt),
	}
}

func inquiryOf(i inquiry.Inquiry, err error) (inquiryDetail, error) {
	if err != nil {
		return inquiryDetail{}, err
	}
	shown := inquiryDetail{
		inquiryLine: inquiryLineOf(i), Email: i.Email, EmailVerified: i.EmailVerified, Body: i.Body,
		HealthSystem: i.HealthSystem,
		Website:      i.Website, StreetAddress: i.StreetAddress, Answers: make([]answer, 0, len(i.Answers)),
	}
	for _, a := range i.Answers {
		shown.Answers = append(shown.Answers, answer{
			At: timestamp.Of(a.At), By: a.By, Text: a.Text, Delivery: string(a.Delivery),
		})
	}
	return shown, nil
}
