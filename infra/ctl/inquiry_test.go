package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/platform/config/awssecret"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

const privateWords = "words-of-a-patient"

func TestInquiryReplyIsEmailedToPatient(t *testing.T) {
	outputs, _, p := withPatients(t)
	p.outputs["MailFrom"], p.outputs["SupportMail"] = "notices@recordbridge.example", "support@recordbridge.example"
	withMail, err := json.Marshal(p.outputs)
	expect.NoError(t, err)
	expect.NoError(t, os.WriteFile(outputs, withMail, 0o600))
	i := inquiry.Inquiry{
		ID: "e0000000-0000-4000-8000-000000000001", Tenant: p.tenant, Type: webhook.SupportRequested,
		Email: "juniper@mailbox.example", Name: privateWords,
		Subject: privateWords, Body: privateWords, CreatedAt: time.Now(),
	}
	event, err := webhook.NewEvent(i.Tenant, i.Type, i.ID, 0, i.CreatedAt, map[string]string{})
	expect.NoError(t, err)
	expect.NoError(t, store.Inquiries(p.work()).CreateInquiry(t.Context(), i, event))
	of := []string{"-org", p.tenant.OrgID, "-mode", "test"}
	do := func(input string, args ...string) string {
		t.Helper()
		printed, err := ctlWith(t, outputs, input, append(args, of...)...)
		return fmt.Sprint(printed, err)
	}
	for _, c := range []struct{ input, line, want string }{
		{"", "inquiry list -status open -kind support", "status:open"},
		{"", "inquiry list -kind health_system", "inquiries:[]"},
		{"", "inquiry show -id " + i.ID, "body:" + privateWords},
		{"Call us.\n", "inquiry answer -yes -text-file - -id " + i.ID, "status:answered"},
		{"Call us.\n", "inquiry answer -yes -text-file - -id " + i.ID, "answered:1"},
		{"", "inquiry show -id " + i.ID, "text:Call us."},
		{"We have fixed it.\n", "inquiry answer -yes -as-operator -text-file - -id " + i.ID, "answered:2"},
		{"", "inquiry status -status closed -id " + i.ID, "status:closed"},
		{"", "inquiry list -status open", "inquiries:[]"},
		{"", "inquiry answer -yes -text-file - -id " + i.ID, "text is required"},
	} {
		got := do(c.input, strings.Fields(c.line)...)
		if !strings.Contains(got, c.want) || strings.Contains(got, privateWords) != strings.Contains(c.line, "show") {
			t.Errorf("%s: %s, want %s", c.line, got, c.want)
		}
	}
}

func TestInquiryListCoversAllOrganisationsByDefault(t *testing.T) {
	outputs, _, p := withPatients(t)
	other := org.Tenant{Mode: org.Live, OrgID: p.tenant.OrgID}
	for n, tenant := range []org.Tenant{p.tenant, other, p.tenant} {
		i := inquiry.Inquiry{
			ID: fmt.Sprintf("e0000000-0000-4000-8000-00000000000%d", n), Tenant: tenant, Type: webhook.SupportRequested,
			Email: "juniper@mailbox.example",
			Name:  privateWords, Subject: privateWords, Body: privateWords,
			CreatedAt: time.Now().Add(time.Duration(n) * time.Second),
		}
		event, err := webhook.NewEvent(tenant, i.Type, i.ID, 0, i.CreatedAt, map[string]string{})
		expect.NoError(t, err)
		expect.NoError(t, store.Inquiries(p.work()).CreateInquiry(t.Context(), i, event))
	}
	printed, err := ctlWith(t, outputs, "", "inquiry", "list", "-status", "open")
	all := fmt.Sprint(printed, err)
	first, second := strings.Index(all, "000000000002"), strings.Index(all, "000000000001")
	if strings.Count(all, "inquiry_id:") != 3 || first < 0 || second < first || !strings.Contains(all, "mode:live") ||
		strings.Contains(all, privateWords) {
		t.Errorf("listed %s", all)
	}
	printed, err = ctlWith(t, outputs, "", "inquiry", "list", "-limit", "1")
	if all = fmt.Sprint(printed, err); strings.Count(all, "inquiry_id:") != 2 ||
		!strings.Contains(all, "more:[map[mode:test") {
		t.Errorf("listed %s, want one of each and what is left out", all)
	}
	if _, err = ctlWith(t, outputs, "", "inquiry", "list", "-after", "2026-01-01T00:00:00Z#x"); err == nil {
		t.Error("a position was taken without an organisation")
	}
}

func TestConnectionListFiltersByExternalID(t *testing.T) {
	outputs, _, p := withPatients(t)
	hashing, err := awssecret.Keyring(t.Context(), p.config, time.Now, p.outputs["KeyHashingSecret"])
	expect.NoError(t, err)
	found := p.connect(t, func(c *connection.Connection) {
		c.External = hashing.Sign(connection.ExternalText(p.tenant, "chart-7"))
	})
	p.connect(t, func(*connection.Connection) {})
	for id, want := range map[string]int{"chart-7": 1, "chart-8": 0} {
		printed, err := p.matter(t, outputs, "connection", "list", "-external-id", id)
		if err != nil || strings.Count(printed, `"id"`) != want || strings.Contains(printed, found) != (want == 1) {
			t.Errorf("%s: %s (%v)", id, printed, err)
		}
	}
}
