package main

import (
	"net/url"
	"strings"
	"testing"

	"recordbridge/shared/words/org"
)

// TestOrganisationInviteSendsTokenOnlyByEmail also checks that only the owner's address receives the invitation.
func TestOrganisationInviteSendsTokenOnlyByEmail(t *testing.T) {
	outputs, sent := newRecordedStack(t, "https://api.alder.example/v1")
	do := doer(t, outputs)
	id := do("organisation", "create", "-name", "Alder")["id"].(string)
	invite := "organisation owner -org " + id + " -email "
	play(t, outputs, []step{{line: invite + "ada@alder.example", refused: "not set up to send e-mail"}})
	putOutput(t, outputs, "MailFrom", "notices@alder.example")
	play(t, outputs, []step{
		{line: invite + "ada@gmail.com", refused: "Use your work e-mail address"},
		{line: invite + "ada", refused: "email must be an ASCII address"},
		{
			line:    "organisation owner -org 00000000-0000-4000-8000-000000000000 -email ada@alder.example",
			refused: "not found",
		},
		{line: invite + "ada@alder.example", prints: "email:ada@alder.example"},
		{line: invite + "Ada@alder.example", refused: "already been invited"},
	})
	_, mail, _ := strings.Cut(sent.all(), "Action=SendEmail")
	form, err := url.ParseQuery(mail[:strings.IndexByte(mail, '\n')])
	if err != nil {
		t.Fatal(err)
	}
	letter := form.Get("Message.Body.Text.Data")
	_, token, _ := strings.Cut(letter, "https://api.alder.example/v1/dashboard#/invitation/")
	token, _, _ = strings.Cut(token, "\n")
	if form.Get("Destination.ToAddresses.member.1") != "ada@alder.example" || len(token) < 80 ||
		!strings.Contains(letter, "Role: owner") ||
		!strings.Contains(form.Get("Message.Body.Html.Data"), token) {
		t.Errorf("the mail is %v", form)
	}
	if strings.Count(sent.all(), token) != 2 { // once each in the email's HTML and text bodies
		t.Error("what makes the invitation work is elsewhere, too")
	}
	if rows := openStored(t, outputs).audited(t, org.Tenant{Mode: org.Live, OrgID: id}); len(rows) != 2 ||
		!strings.HasPrefix(rows[1], "member.invited ") {
		t.Errorf("the audit rows are %q", rows)
	}
}
