package inquiry_test

import (
	"errors"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/words/fault"
)

func TestInquiryTextsAreSanitised(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ given, want string }{
		"markup":                   {"<script>alert(1)</script> pain < 5", "‹script›alert(1)‹/script› pain ‹ 5"},
		"controls":                 {"a\x00b\x1b[31mc\u0085d\x7fe\tf", "a b [31mc d e f"},
		"directions":               {"in\u202evoice\u2066.exe\ufeff\u200b", "invoice.exe"},
		"lines":                    {"\r\n\r\n one \r\n\r\n two\n\n", " one\n\n two"},
		"letters of other scripts": {"Müller 医院 👩\u200d⚕️ क्\u200dष", "Müller 医院 👩\u200d⚕️ क्\u200dष"},
		"what looks like a header": {"x\r\nBcc: eve@example.com", "x\nBcc: eve@example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			s := help()
			s.Body = c.given
			expect.NoError(t, o.recorder.AskSupport(t.Context(), inquiry.From{Tenant: alder, Email: address}, s))
			if got, _ := o.data()["body"].(string); got != "Subject: Cannot sign in\nFrom: Ada Maple\n\n"+c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestInquiryLineRemovesLineBreaks checks that a name or subject can't add a line to the message body.
func TestInquiryLineRemovesLineBreaks(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	s := help()
	s.Name, s.Subject = "Ada\r\n\r\nBody: forged", "Help\n\nFrom: eve"
	expect.NoError(t, o.recorder.AskSupport(t.Context(), inquiry.From{Tenant: alder, Email: address}, s))
	if got, _ := o.data()["body"].(string); !strings.HasPrefix(got,
		"Subject: Help From: eve\nFrom: Ada Body: forged\n\nIt says no.") {
		t.Errorf("got %q", got)
	}
}

func TestRecorderRejectsMissingOrLongFields(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	support := func(change func(s *inquiry.Support)) error {
		s := help()
		change(&s)
		return o.recorder.AskSupport(t.Context(), inquiry.From{Tenant: alder, Email: address}, s)
	}
	system := func(h inquiry.HealthSystem) error {
		return o.recorder.AskHealthSystem(t.Context(), inquiry.From{Tenant: alder, Email: address}, h)
	}
	site := func(website string) error { return system(inquiry.HealthSystem{Name: "Alder", Website: website}) }
	from := func(f inquiry.From) error {
		f.Tenant = alder
		return o.recorder.AskSupport(t.Context(), f, help())
	}
	for what, test := range map[string]struct {
		err   error
		field string
	}{
		"no name":        {support(func(s *inquiry.Support) { s.Name = " \u202e\x00" }), "name"},
		"no subject":     {support(func(s *inquiry.Support) { s.Subject = "" }), "subject"},
		"no body":        {support(func(s *inquiry.Support) { s.Body = "\n \n" }), "body"},
		"a long name":    {support(func(s *inquiry.Support) { s.Name = strings.Repeat("é", 201) }), "name"},
		"a long subject": {support(func(s *inquiry.Support) { s.Subject = strings.Repeat("x", 201) }), "subject"},
		"a long body":    {support(func(s *inquiry.Support) { s.Body = strings.Repeat("x", 10<<10+1) }), "body"},
		"a long health system": {
			support(func(s *inquiry.Support) { s.HealthSystem = strings.Repeat("x", 201) }),
			"health_system",
		},
		"an address of two": {from(inquiry.From{Email: "a@example.com,b@example.com"}), "email"},
		"a long key":        {from(inquiry.From{Email: address, RequestKey: strings.Repeat("x", 65)}), "request_key"},
		"no health system":  {system(inquiry.HealthSystem{}), "name"},
		"a long street": {
			system(inquiry.HealthSystem{Name: "Alder", StreetAddress: strings.Repeat("x", 501)}),
			"street_address",
		},
		"a script for a website":    {site("javascript:alert(1)"), "website"},
		"a script with slashes":     {site("javascript://alder.example/%0aalert(1)"), "website"},
		"data":                      {site("data:text/html,x"), "website"},
		"a website with a password": {site("https://alder.example@evil.example"), "website"},
		"an address of a network":   {site("http://169.254.169.254/latest"), "website"},
		"another one":               {site("http://[::1]/"), "website"},
		"a name of this machine":    {site("localhost"), "website"},
		"no host":                   {site("https:///x"), "website"},
		"words":                     {site("I do not know"), "website"},
		"a long website":            {site("https://alder.example/" + strings.Repeat("x", 500)), "website"},
	} {
		if !errors.Is(test.err, fault.Invalid) || fault.Of(test.err).Field != test.field {
			t.Errorf("%s: %v", what, test.err)
		}
	}
	if got := len(o.rows("EVENT")) + len(o.queue.told); got != 0 {
		t.Errorf("%d events or messages came of them", got)
	}
	expect.NoError(t, support(func(s *inquiry.Support) {
		s.Name, s.Subject, s.Body, s.HealthSystem = strings.Repeat("é", 200), strings.Repeat("é", 200),
			strings.Repeat("x", 10<<10), strings.Repeat("é", 200)
	}))
}
