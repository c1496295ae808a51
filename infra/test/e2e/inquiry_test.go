package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/local/faults"
	"recordbridge/infra/testkit/expect"
)

// patientsAddress is a patient's email address, and patientsWords is the text of the patient's inquiry.
const (
	patientsAddress = "juniper.vale@mailbox.example"
	patientsWords   = "The portal of my cardiologist says <no>."
)

func TestPatientCanSendInquiriesFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, o *outside) {
		t.Helper()
		o.patient.askHealthSystem("")
		o.patient.askSupport("")
		checkInquiriesTold(t, o)
	})
}

// checkInquiriesTold checks that each inquiry's event was delivered once and matches docs/guide/webhook-reference.md.
func checkInquiriesTold(t *testing.T, o *outside) {
	t.Helper()
	for eventType, want := range map[string]string{
		"patient.request_health_system": `{"email":"` + patientsAddress +
			`","name":"Alder Hospital","website":"https://alder.example","street_address":"1 Elm Street"}`,
		"patient.request_support": `{"email":"` + patientsAddress +
			`","name":"Cedar Clinic","body":"Subject: No sign-in\nFrom: Juniper Vale\n\n` +
			`The portal of my cardiologist says ‹no›."}`,
	} {
		o.webhooks.awaitEvents(eventType, 1)
		var body struct{ Data json.RawMessage }
		told := o.webhooks.events(eventType)
		expect.NoError(t, json.Unmarshal([]byte(told[0].Body), &body))
		if len(told) != 1 || string(body.Data) != want {
			t.Errorf("%s came %d times, with %s, want %s", eventType, len(told), body.Data, want)
		}
	}
}

func (o browsing) form(path string, body map[string]string) answer {
	o.t.Helper()
	return o.call(http.MethodPost, path+"?public_id="+url.QueryEscape(o.seeded.Organisations[0].PublicID), "", "", body)
}

func (o browsing) askHealthSystem(token string) {
	o.t.Helper()
	got := o.patient.form("/support/healthsystem", map[string]string{
		"email": patientsAddress, "name": "Alder Hospital", "website": "alder.example", "street_address": "1 Elm Street",
		"email_token": token,
	})
	if got.status != http.StatusOK || strings.TrimSpace(string(got.raw)) != `{"success":true}` {
		o.t.Fatalf("asking for a health system answered %d %s", got.status, got.raw)
	}
}

func (o browsing) askSupport(token string) {
	o.t.Helper()
	if got := o.patient.form("/support/request", supportForm(token)); got.status != http.StatusOK ||
		strings.TrimSpace(string(got.raw)) != `{"success":true}` {
		o.t.Fatalf("asking for help answered %d %s", got.status, got.raw)
	}
}

func supportForm(token string) map[string]string {
	return map[string]string{
		"email": patientsAddress, "name": "Juniper Vale", "subject": "No sign-in", "body": patientsWords,
		"health_system": "Cedar Clinic",
		"email_token":   token, "request_key": "page-1",
	}
}

// sentCode is the page data that describes a sent code.
type sentCode struct {
	ID    string    `json:"verification_id"`
	Until time.Time `json:"expires_at"`
	Again time.Time `json:"resend_after"`
}

// sendCode requests a code and reads it from the resulting email.
func (s staff) sendCode(email string) (sent sentCode, code string) {
	s.t.Helper()
	got := s.patient.form("/bridge/email/codes", map[string]string{"email": email, "lang": "es"})
	if got.status != http.StatusOK {
		s.t.Fatalf("sending a code answered %d %s", got.status, got.raw)
	}
	expect.NoError(s.t, json.Unmarshal(got.Data, &sent))
	return sent, s.staff.mailedCode(email)
}

var mailedCode = regexp.MustCompile(`\b[0-9]{6}\b`)

func (s staff) mailedCode(email string) string {
	s.t.Helper()
	code := ""
	for _, m := range s.cloud.SES().Sent() {
		if len(m.To) == 1 && m.To[0] == email && strings.Contains(m.HTML, mailedCode.FindString(m.Text)) {
			code = mailedCode.FindString(m.Text)
		}
	}
	return code
}

func (s staff) verify(id, code string) (status int, token string) {
	s.t.Helper()
	got := s.patient.form("/bridge/email/verification", map[string]string{"verification_id": id, "code": code})
	var verified struct {
		Token string `json:"email_token"`
	}
	if got.status == http.StatusOK {
		expect.NoError(s.t, json.Unmarshal(got.Data, &verified))
	}
	return got.status, verified.Token
}

func otherCode(code string) string {
	if code == "000000" {
		return "000001"
	}
	return "000000"
}

// runForms verifies a patient's email address and sends two inquiries: one to add a health system and one for help. To
// imitate a client that lost the first response, it sends the second inquiry twice.
func runForms(s *stack) {
	s.t.Helper()
	sent, code := s.staff.sendCode(patientsAddress)
	if got := s.patient.form("/bridge/email/codes",
		map[string]string{"email": patientsAddress}); got.status != http.StatusTooManyRequests ||
		got.header.Get("Retry-After") != "30" {
		s.t.Errorf("a second code at once answered %d, Retry-After %s", got.status, got.header.Get("Retry-After"))
	}
	if status, _ := s.staff.verify(sent.ID, otherCode(code)); status != http.StatusBadRequest {
		s.t.Errorf("a wrong code answered %d", status)
	}
	status, token := s.staff.verify(sent.ID, code)
	if status != http.StatusOK || len(token) != 43 {
		s.t.Fatalf("the right code answered %d with a token of %d characters", status, len(token))
	}
	if status, _ := s.staff.verify(sent.ID, code); status != http.StatusNotFound {
		s.t.Errorf("the code works twice: %d", status)
	}
	s.patient.askHealthSystem(token)
	for range 2 {
		s.patient.askSupport(token)
	}
	s.clock.advance(2)
	if kept := s.state.list("test-WorkTable", s.tenant()+"#INQUIRY"); len(kept) != 2 {
		s.t.Errorf("%d inquiries are kept, want 2", len(kept))
	}
}

func TestPatientCanSendInquiriesAfterVerifyingEmail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		runForms(s)
		checkInquiriesTold(t, s.outside)
		var pulled struct{ Events []json.RawMessage }
		expect.NoError(t, json.Unmarshal(s.org.request(http.MethodGet, "/bridge/events", nil).Data, &pulled))
		if len(pulled.Events) != 2 {
			t.Errorf("%d events can be pulled, want 2", len(pulled.Events))
		}
		for _, m := range s.cloud.SES().Sent() {
			if m.To[0] == patientsAddress && (m.Subject != "Su código para Alder Health App (modo de prueba)" ||
				strings.Contains(m.Text+m.HTML, "://")) {
				t.Errorf("the mail is %+v", m)
			}
		}
	})
}

// TestInquiriesAreStoredWithoutWebhook checks that an organisation without a webhook for inquiries does not lose any
// inquiry. The patient must get the same response as if a webhook existed.
func TestInquiriesAreStoredWithoutWebhook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		live := s.seeded.Organisations[1] // this organisation has no live-mode webhook
		got := s.call(http.MethodPost, "/support/request?public_id="+live.PublicID, "", "", supportForm(""))
		s.clock.advance(2)
		kept := s.state.list("test-WorkTable", "live#"+live.ID+"#INQUIRY")
		if got.status != http.StatusOK || len(kept) != 1 || len(s.received()) != 0 {
			t.Errorf("answered %d %s, keeps %v, told %d times", got.status, got.raw, kept, len(s.received()))
		}
	})
}

func TestEmailCodeAndTokenAreBoundToOrganisation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		sent, code := s.staff.sendCode(patientsAddress)
		stranger, live := s.newStranger(), s.seeded.Organisations[1]
		for _, publicID := range []string{stranger.publicID, live.PublicID} {
			got := s.call(http.MethodPost, "/bridge/email/verification?public_id="+publicID, "", "",
				map[string]string{"verification_id": sent.ID, "code": code})
			unknown := s.call(http.MethodPost, "/bridge/email/verification?public_id="+publicID, "", "",
				map[string]string{"verification_id": requestIDLike, "code": code})
			if got.status != http.StatusNotFound || got.Description != unknown.Description || got.Error != unknown.Error {
				t.Errorf("another's code answered %d %s, an unknown one %s", got.status, got.raw, unknown.raw)
			}
		}
		_, token := s.staff.verify(sent.ID, code)
		for _, publicID := range []string{stranger.publicID, live.PublicID} {
			got := s.call(http.MethodPost, "/support/request?public_id="+publicID, "", "", supportForm(token))
			if got.status != http.StatusBadRequest || !strings.HasPrefix(got.Description, "email_token is not") {
				t.Errorf("another's token answered %d %s", got.status, got.raw)
			}
		}
		s.clock.advance(1)
		stranger.checkReceivedOnly(t, "")
	})
}

const requestIDLike = "7b1c0d52-4e8f-4a63-9f0e-2d5c8b7a6e91"

// TestSendCodeDoesNotRevealWhetherAddressIsKnown checks that the response to a request for a code is the same for known
// and unknown addresses.
func TestSendCodeDoesNotRevealWhetherAddressIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		expect.NoError(t, s.operator.Organisations.SetEmails(t.Context(), s.owner(), []string{"ops@alder.example"}))
		runForms(s) // makes patientsAddress known
		<-time.After(time.Hour)
		shapes := map[string]bool{}
		for _, email := range []string{patientsAddress, "ops@alder.example", "nobody@elsewhere.example"} {
			got := s.patient.form("/bridge/email/codes", map[string]string{"email": email})
			shapes[mailedShape.ReplaceAllString(string(got.raw), "x")] = true
			<-time.After(time.Second)
		}
		if len(shapes) != 1 {
			t.Errorf("the answers differ: %v", shapes)
		}
	})
}

// mailedShape matches the IDs that differ between responses.
var mailedShape = regexp.MustCompile(`"[^"]*-[^"]*-[^"]*"`)

// TestSendCodeReportsUndeliveredEmail checks that the patient gets an error with instructions if the email can't be
// sent, and that a retry succeeds 30 seconds later.
func TestSendCodeReportsUndeliveredEmail(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]faults.Kind{"fails": faults.FailedBefore, "is silent": faults.TimedOutBefore} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				plan := faults.New(faults.Options{
					Severity: faults.Severity{Silence: time.Hour},
					Rules:    []faults.Rule{{Service: "ses", Kind: kind}},
				})
				s := newStack(t, options{plan: plan})
				plan.Pause(false)
				got := s.patient.form("/bridge/email/codes", map[string]string{"email": patientsAddress})
				if got.status != http.StatusServiceUnavailable ||
					got.Description != "The e-mail could not be sent. Please try again in a minute." ||
					got.header.Get("Retry-After") != "30" {
					t.Errorf("answered %d %s", got.status, got.raw)
				}
				plan.Pause(true)
				<-time.After(30 * time.Second)
				sent, code := s.staff.sendCode(patientsAddress)
				if status, _ := s.staff.verify(sent.ID, code); status != http.StatusOK {
					t.Errorf("the next code answered %d", status)
				}
			})
		})
	}
}

// TestFormsSurviveCrashAnywhere checks that a patient who follows the page's instructions after a crash succeeds, and
// that the organisation is notified once.
func TestFormsSurviveCrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, function := range []string{
		"SendCodeFunction", "VerifyEmailFunction", "RequestHealthSystemFunction",
		"RequestSupportFunction",
	} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			sweepCrashes(t, function, func(t *testing.T, s *stack) {
				t.Helper()
				token := verifyUntilDone(t, s)
				health := map[string]string{
					"email": patientsAddress, "name": "Alder Hospital", "website": "alder.example", "street_address": "1 Elm Street",
					"email_token": token, "request_key": "page-2",
				}
				formUntilDone(t, s, "/support/healthsystem", health)
				formUntilDone(t, s, "/support/request", supportForm(token))
				s.disarm(function)
				s.clock.advance(3)
				checkInquiriesTold(t, s.outside)
			})
		})
	}
}

// verifyUntilDone requests and submits codes within the rate limit until the service returns a token.
func verifyUntilDone(t *testing.T, s *stack) string {
	t.Helper()
	for range 5 {
		got := s.patient.form("/bridge/email/codes", map[string]string{"email": patientsAddress})
		if got.status != http.StatusOK {
			if got.status != http.StatusTooManyRequests {
				checkFailure(t, got)
			}
			<-time.After(time.Minute)
			continue
		}
		var sent sentCode
		expect.NoError(t, json.Unmarshal(got.Data, &sent))
		for range 2 {
			if status, token := s.staff.verify(sent.ID, s.staff.mailedCode(patientsAddress)); status == http.StatusOK {
				return token
			}
		}
		<-time.After(time.Minute)
	}
	t.Fatal("the address was never verified")
	return ""
}

func formUntilDone(t *testing.T, s *stack, path string, body map[string]string) {
	t.Helper()
	for range 5 {
		got := s.patient.form(path, body)
		if got.status == http.StatusOK {
			return
		}
		checkFailure(t, got)
	}
	t.Fatalf("%s was never answered", path)
}
