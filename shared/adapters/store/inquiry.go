package store

import (
	"cmp"
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/org"
)

const (
	// inquiryList identifies a tenant's inquiries in the byOrg index.
	inquiryList   = "INQUIRY"
	keepInquiries = 90 * 24 * time.Hour // docs/operate/retention.md
	keepAnswered  = 48 * time.Hour      // retention period of each day's answer counter
)

// Inquiries stores patients' inquiries and counts each day's answers.
type Inquiries Work

// CreateInquiry implements inquiry.Store. CreateInquiry keeps the inquiry longer than its event, because staff check
// the inbox only occasionally.
func (s Inquiries) CreateInquiry(ctx context.Context, i inquiry.Inquiry, event webhook.Event,
	notices ...notice.Notice,
) error {
	row := newItem(inquiryKey(i.Tenant, i.ID))
	row.setText("type", string(i.Type))
	row.setText("email", i.Email)
	row.setFlag("email_verified", i.EmailVerified)
	row.setText("name", i.Name)
	row.setText("subject", i.Subject)
	row.setText("body", i.Body)
	row.setText("health_system", i.HealthSystem)
	row.setText("website", i.Website)
	row.setText("street_address", i.StreetAddress)
	row.setTime("created_at", i.CreatedAt)
	row.setInt("ttl", i.CreatedAt.Add(keepInquiries).Unix())
	row.listed(i.Tenant, inquiryList, i.ID, i.CreatedAt)
	rows := make([]types.TransactWriteItem, 0, 2+len(notices))
	rows = append(rows, putNew(s.Table, eventItem(event)), putNew(s.Table, row))
	for _, n := range notices {
		rows = append(rows, putNew(s.Table, noticeItem(n)))
	}
	return transact(ctx, s.DB, rows...)
}

// InquiriesBefore implements operator.InquiryRows.
func (s Inquiries) InquiriesBefore(ctx context.Context, tenant org.Tenant, before string,
	limit int,
) ([]string, bool, error) {
	return placesBefore(ctx, s.DB, s.Table, listKey(tenant, inquiryList), before, limit)
}

// Inquiry implements inquiry.InboxRows. Inquiry returns an expired row until DynamoDB deletes the row.
func (s Inquiries) Inquiry(ctx context.Context, tenant org.Tenant, id string) (inquiry.Inquiry, error) {
	row, err := get(ctx, s.DB, s.Table, inquiryKey(tenant, id))
	if err != nil {
		return inquiry.Inquiry{}, err
	}
	i := inquiry.Inquiry{
		ID: id, Tenant: tenant, Type: webhook.Type(row.text("type")), Email: row.text("email"),
		EmailVerified: row.flag("email_verified"),
		Name:          row.text("name"), Subject: row.text("subject"), Body: row.text("body"),
		HealthSystem: row.text("health_system"),
		Website:      row.text("website"), StreetAddress: row.text("street_address"), CreatedAt: row.time("created_at"),
		Status: inquiry.Status(cmp.Or(row.text("status"), string(inquiry.Open))), Rev: row.int("rev"),
	}
	return i, row.json("answers", &i.Answers)
}

// SaveInquiry implements inquiry.InboxRows. An inquiry that has never been changed has no revision.
func (s Inquiries) SaveInquiry(ctx context.Context, i inquiry.Inquiry) error {
	answers := item{}
	if err := answers.setJSON(":answers", i.Answers); err != nil {
		return err
	}
	changed := change{
		table: s.Table, key: inquiryKey(i.Tenant, i.ID),
		set: "SET #status = :status, answers = :answers, rev = :next", when: "rev = :rev",
		names: map[string]string{"#status": "status"},
		values: item{
			":status": text(string(i.Status)), ":answers": answers[":answers"], ":next": number(i.Rev + 1),
			":rev": number(i.Rev),
		},
	}
	if i.Rev == 0 {
		changed.when = "attribute_exists(pk) AND attribute_not_exists(rev)"
		delete(changed.values, ":rev")
	}
	_, err := update(ctx, s.DB, changed)
	return err
}

// CountAnswer implements inquiry.InboxRows.
func (s Inquiries) CountAnswer(ctx context.Context, tenant org.Tenant, day time.Time, most int64) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: answersKey(tenant, day), set: "ADD sent :one SET #ttl = :ttl",
		when:   "attribute_not_exists(sent) OR sent < :most",
		names:  map[string]string{"#ttl": "ttl"},
		values: item{":one": number(1), ":most": number(most), ":ttl": number(day.Add(keepAnswered).Unix())},
	})
	return err
}
