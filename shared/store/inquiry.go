package store

import (
	"context"
	"time"

	"recordbridge/shared/inquiry"
	"recordbridge/shared/webhook"
)

const (
	// inquiryList is the list of a tenant's inquiries in the index byOrg.
	inquiryList   = "INQUIRY"
	keepInquiries = 90 * 24 * time.Hour // docs/operations.md, How long things are kept
)

// CreateInquiry implements inquiry.Store. Its row outlives the event's: it is for people, who look in now and then.
func (s Work) CreateInquiry(ctx context.Context, i inquiry.Inquiry, event webhook.Event) error {
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
	return transact(ctx, s.DB, putNew(s.Table, eventItem(event)), putNew(s.Table, row))
}
