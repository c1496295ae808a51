package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

func codeOf(of org.Tenant) verification.Code {
	return verification.Code{
		ID: "c0de0000-0000-4000-8000-000000000001", Tenant: of, Mark: secret.Mark{Version: 2, Sum: []byte("digits")},
		Address: secret.Mark{Version: 3, Sum: []byte("address")}, ExpiresAt: now.Add(10 * time.Minute),
	}
}

func sendingsOf(of org.Tenant) verification.Sendings {
	return verification.Sendings{Tenant: of, Mailbox: "mailbox", Sent: []verification.Sending{
		{At: now.Add(-time.Hour)}, {At: now.Add(-time.Minute), Network: "n1"}, {At: now, Network: "n2"},
	}}
}

func emailTokenOf(of org.Tenant) verification.Token {
	return verification.Token{Hash: "token", Tenant: of, Address: codeOf(of).Address, ExpiresAt: now.Add(time.Hour)}
}

func (s stores) verify(t *testing.T) {
	t.Helper()
	expect.NoError(t, s.flow.CreateCode(t.Context(), codeOf(tenant), sendingsOf(tenant)))
	expect.NoError(t, s.flow.ExchangeCode(t.Context(), codeOf(tenant), emailTokenOf(tenant)))
	sent := sendingsOf(tenant)
	sent.Rev = 1
	expect.NoError(t, s.flow.CreateCode(t.Context(), codeOf(tenant), sent))
}

func TestVerificationRoundTripsCodeHistoryAndToken(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.verify(t)
	sent, err := s.flow.Sendings(t.Context(), tenant, "mailbox")
	expect.NoError(t, err)
	wanted := sendingsOf(tenant)
	wanted.Rev = 2
	if diff := cmp.Diff(wanted, sent); diff != "" {
		t.Errorf("sendings (-want +got):\n%s", diff)
	}
	for try := 1; try <= 2; try++ {
		var got verification.Code
		got, err = s.flow.TryCode(t.Context(), tenant, codeOf(tenant).ID, now, 2)
		expect.NoError(t, err)
		want := codeOf(tenant)
		want.Tries = try
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("code (-want +got):\n%s", diff)
		}
	}
	_, err = s.flow.TryCode(t.Context(), tenant, codeOf(tenant).ID, now, 2)
	expect.Conflict(t, "a third try of two", err)
	token, err := s.flow.EmailToken(t.Context(), tenant, "token")
	expect.NoError(t, err)
	if diff := cmp.Diff(emailTokenOf(tenant), token); diff != "" {
		t.Errorf("token (-want +got):\n%s", diff)
	}
}

// TestExchangeCodeSucceedsOnlyOnce checks that if several callers submit the correct code at once, only one receives a
// token.
func TestExchangeCodeSucceedsOnlyOnce(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.flow.CreateCode(t.Context(), codeOf(tenant), sendingsOf(tenant)))
	won := expect.Winners(t, 10, func(ctx context.Context, i int) error {
		token := emailTokenOf(tenant)
		token.Hash = taskNumber(i)
		return s.flow.ExchangeCode(ctx, codeOf(tenant), token)
	})
	if won != 1 {
		t.Errorf("%d tokens came of one code", won)
	}
}

func TestTryCodeSucceedsUntilExpiry(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.verify(t)
	_, err := s.flow.TryCode(t.Context(), tenant, codeOf(tenant).ID, codeOf(tenant).ExpiresAt.Add(-time.Microsecond), 5)
	expect.NoError(t, err)
	_, err = s.flow.TryCode(t.Context(), tenant, codeOf(tenant).ID, codeOf(tenant).ExpiresAt, 5)
	expect.Conflict(t, "the moment it expires", err)
}

// TestCreateCodeCountsConcurrentEmails checks that a code can't be created using a stale email count. An outdated count
// would let concurrent emails exceed the limit.
func TestCreateCodeCountsConcurrentEmails(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.verify(t)
	for _, stale := range []int64{0, 1, 3} {
		sent, code := sendingsOf(tenant), codeOf(tenant)
		sent.Rev, code.ID = stale, "c0de0000-0000-4000-8000-000000000002"
		expect.Conflict(t, "an older revision", s.flow.CreateCode(t.Context(), code, sent))
		_, err := s.flow.TryCode(t.Context(), tenant, code.ID, now, 5)
		expect.Conflict(t, "its code", err)
	}
}

func TestCreateInquiryStoresInquiryAndEventOnce(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	asked := inquiry.Inquiry{
		ID: eventID, Tenant: tenant, Type: webhook.SupportRequested, Email: "a@example.com",
		Body: "Help", CreatedAt: now,
	}
	expect.NoError(t, s.inquiries.CreateInquiry(t.Context(), asked, eventOf(tenant, eventID)))
	expect.Conflict(t, "the same again", s.inquiries.CreateInquiry(t.Context(), asked, eventOf(tenant, eventID)))
	_, err := s.events.Event(t.Context(), tenant, eventID)
	expect.NoError(t, err)
	asked.Tenant.Mode = org.Live
	expect.NoError(t, s.inquiries.CreateInquiry(t.Context(), asked, eventOf(asked.Tenant, eventID)))
}
