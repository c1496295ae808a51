package members_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/mailtest"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/platform/mailtext"
	"recordbridge/shared/words/org"
)

func TestInvitationMailContainsTextAndHTML(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token := h.invite(h.by(ada), bob, account.Developer).Reveal()
	for i := range h.last {
		h.last[i] = strings.ReplaceAll(h.last[i], token, "TOKEN")
	}
	mailtest.Check(t, "invitation", h.last[0], h.last[1], h.last[2])
}

// TestInvitationMailEscapesOrganisationName checks that an organisation name, which appears in every invitation, can't
// inject lines or markup.
func TestInvitationMailEscapesOrganisationName(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	named, err := h.accounts.Organisation(t.Context(), org.Tenant{Mode: org.Live, OrgID: h.orgID})
	expect.NoError(t, err)
	named.Name = "Alder\r\nBcc: eve@evil.example\n\n<a href=\"https://evil.example\">App</a>"
	expect.NoError(t, store.Organisations(h.accounts).SaveOrganisation(t.Context(), named))
	h.invite(h.by(ada), bob, account.Developer)
	subject, text, markup := h.last[0], h.last[1], h.last[2]
	if strings.ContainsAny(subject, "\r\n") || strings.Count(text, "\n") != 10 || strings.Count(markup, "<a ") != 1 ||
		!strings.Contains(markup, "&lt;a href=") {
		t.Errorf("subject %q, text %s, HTML %s", subject, text, markup)
	}
}

type recipients struct {
	mu  sync.Mutex
	all []string
	err error
}

func (r *recipients) Send(_ context.Context, to []string, _, _, _ string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, account.Fold(strings.Join(to, " ")))
	return r.err
}

func TestNotifyMembersEmailsEachAddressOnce(t *testing.T) {
	t.Parallel()
	h, told := newHouse(t), &recipients{}
	h.join(bob, account.Viewer)
	h.Mailer = told
	m := mailtext.Message{Language: "en", Subject: "s", Opening: []string{"Told."}}
	expect.NoError(t, h.NotifyMembers(t.Context(), h.orgID, []string{"ops@alder.example", strings.ToUpper(bob)}, m))
	slices.Sort(told.all)
	if want := []string{ada, bob, "ops@alder.example"}; !slices.Equal(told.all, want) {
		t.Errorf("told %q, want %q", told.all, want)
	}
	told.err = errors.New("no mail today")
	expect.NoError(t, h.NotifyMembers(t.Context(), h.orgID, nil, m))
	h.Mailer = nil
	expect.NoError(t, h.NotifyMembers(t.Context(), h.orgID, nil, m))
}
