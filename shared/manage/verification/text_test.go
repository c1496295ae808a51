package verification_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/words/org"
)

func (o *office) mailIn(language, organisation string, mode org.Mode) sentMail {
	o.t.Helper()
	tenant := org.Tenant{Mode: mode, OrgID: alder.OrgID}
	_, err := o.sender.Send(o.t.Context(), verification.Request{
		Tenant: tenant, Organisation: organisation, Language: language,
		Email: strings.ToLower(o.t.Name()[:5]) + string('a'+rune(len(o.post.sent))) + "@example.com",
	})
	expect.NoError(o.t, err)
	return o.post.sent[len(o.post.sent)-1]
}

func TestMailNamesOrganisationInPatientLanguage(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	got := o.mailIn("en", "Alder App", org.Live)
	want := "Alder App wants to confirm that this is your email address.\n\nYour code: " + got.code() +
		"\n\nThe code works once and expires after 5 minutes. Enter the code where you requested it. Don't share the " +
		"code: no one will ever ask you for it.\n\nIf you didn't request a code, you can ignore this email.\n"
	if diff := cmp.Diff(want, got.text); diff != "" || got.subject != "Your code for Alder App" {
		t.Errorf("subject %q, text (-want +got):\n%s", got.subject, diff)
	}
	for language, subject := range map[string]string{
		"": "Your code for Alder App", "fr": "Your code for Alder App", "estonian": "Your code for Alder App",
		"es": "Su código para Alder App", "ES-mx": "Su código para Alder App",
	} {
		if m := o.mailIn(language, "Alder App", org.Live); m.subject != subject {
			t.Errorf("in %q the subject is %q", language, m.subject)
		}
	}
	m := o.mailIn("es", "Alder App", org.Test)
	if !strings.Contains(m.text, "Alder App (modo de prueba) quiere confirmar") || !strings.Contains(m.html, `lang="es"`) {
		t.Errorf("in test mode it says %s%s", m.text, m.html)
	}
}

func TestMailDoesNotLinkOrganisationName(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, language := range []string{"en", "es"} {
		m := o.mailIn(language, "Alder\r\nBcc: eve@example.com\n\n<a href=\"https://evil.example\">App</a> & Söhne", org.Live)
		if strings.ContainsAny(m.subject, "\r\n") || strings.Count(m.text, "\n") != 7 {
			t.Errorf("the name makes lines: %q %q", m.subject, m.text)
		}
		if strings.Contains(m.html, "<a") || strings.Contains(m.html, "href=\"") ||
			!strings.Contains(m.html, "&lt;a href=&#34;https://evil.example&#34;&gt;App&lt;/a&gt; &amp; Söhne") {
			t.Errorf("the name makes markup: %s", m.html)
		}
		if strings.Contains(m.subject, m.code()) || !strings.Contains(m.html, m.code()) {
			t.Errorf("subject %q, html %s", m.subject, m.html)
		}
	}
	plain := o.mailIn("en", "Alder App", org.Live)
	if strings.Contains(plain.text+plain.html, "://") || strings.Contains(plain.html, "<img") {
		t.Errorf("the mail leads elsewhere: %s%s", plain.text, plain.html)
	}
}
