package e2e_test

import (
	"encoding/base32"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/passkeytest"
	"recordbridge/shared/manage/account/totp"
	"recordbridge/shared/words/org"
)

type person struct {
	*stack

	email   string
	cookies map[string]string
	csrf    string
	id      string
}

func (s staff) newPerson(email string) *person {
	return &person{stack: s.stack, email: email, cookies: map[string]string{}}
}

// ask sends a request as a dashboard page would and stores the cookies in the response.
func (p *person) ask(method, path string, body any, into any) int {
	p.t.Helper()
	text := []byte(nil)
	if body != nil {
		var err error
		text, err = json.Marshal(body)
		expect.NoError(p.t, err)
	}
	r, err := http.NewRequestWithContext(p.t.Context(), method, baseURL+path, strings.NewReader(string(text)))
	expect.NoError(p.t, err)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	p.sign(r)
	response, err := p.Do(r)
	expect.NoError(p.t, err)
	defer func() { _ = response.Body.Close() }()
	for _, cookie := range response.Cookies() {
		if p.cookies[cookie.Name] = cookie.Value; cookie.MaxAge < 0 {
			delete(p.cookies, cookie.Name)
		}
	}
	var answer struct{ Data json.RawMessage }
	expect.NoError(p.t, json.NewDecoder(response.Body).Decode(&answer))
	var session struct {
		Account struct{ ID string }
		CSRF    string `json:"csrf_token"`
	}
	if json.Unmarshal(answer.Data, &session) == nil && session.CSRF != "" {
		p.csrf, p.id = session.CSRF, session.Account.ID
	}
	if into != nil && response.StatusCode == http.StatusOK {
		expect.NoError(p.t, json.Unmarshal(answer.Data, into))
	}
	return response.StatusCode
}

// sign adds the headers that a dashboard page and the browser would send.
func (p *person) sign(r *http.Request) {
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("X-Csrf-Token", p.csrf)
	all := make([]string, 0, len(p.cookies))
	for name, value := range p.cookies {
		all = append(all, name+"="+value)
	}
	if len(all) > 0 {
		r.Header.Set("Cookie", strings.Join(all, "; "))
	}
}

// do calls ask and fails the test if the response is an error.
func (p *person) do(method, path string, body any, into any) {
	p.t.Helper()
	if status := p.ask(method, path, body, into); status != http.StatusOK {
		p.t.Fatalf("%s %s of %s answered %d", method, path, p.email, status)
	}
}

func (p *person) signIn() {
	p.t.Helper()
	<-time.After(time.Minute)
	var sent sentCode
	p.do(http.MethodPost, "/dashboard/session/codes", map[string]string{"email": p.email}, &sent)
	p.do(http.MethodPost, "/dashboard/session",
		map[string]string{"email": p.email, "verification_id": sent.ID, "code": p.staff.mailedCode(p.email)}, nil)
}

// mailed returns the text after mark in the newest email to an address.
func mailed(s *stack, email, mark string) string {
	s.t.Helper()
	found := ""
	for _, m := range s.cloud.SES().Sent() {
		if _, rest, ok := strings.Cut(m.Text, mark); ok && m.To[0] == email {
			found = strings.Fields(rest)[0]
		}
	}
	return found
}

func (p *person) accept() {
	p.t.Helper()
	invitation := map[string]string{"token": mailed(p.stack, p.email, "#/invitation/")}
	p.do(http.MethodPost, "/dashboard/invitations", invitation, nil)
}

func (s staff) newOwner() *person {
	s.t.Helper()
	owner := s.staff.newPerson("ada@alder.example")
	_, err := s.operator.Members.InviteOwner(
		s.t.Context(), org.Tenant{Mode: org.Live, OrgID: s.seeded.Organisations[0].ID}, owner.email,
	)
	expect.NoError(s.t, err)
	owner.signIn()
	owner.accept()
	return owner
}

// runPeople performs every action that members can take on their own and other members' accounts.
func runPeople(s *stack) {
	s.t.Helper()
	owner := s.staff.newOwner()
	s.staff.runLeaving(owner)
	runMembers(s, owner)
	runFactors(s, owner)
	<-time.After(6 * time.Minute) // a session's last use is stored at most every five minutes
	owner.do(http.MethodGet, "/dashboard/session", nil, nil)
	owner.do(http.MethodDelete, "/dashboard/session", nil, nil)
	if status := owner.ask(http.MethodGet, "/dashboard/session", nil, nil); status != http.StatusUnauthorized {
		s.t.Errorf("signed out, the session answered %d", status)
	}
	owner.signIn()
	owner.do(http.MethodDelete, "/dashboard/sessions", nil, nil)
}

func runMembers(s *stack, owner *person) {
	s.t.Helper()
	members := "/dashboard/organisations/" + s.seeded.Organisations[0].ID + "/members"
	invitations := "/dashboard/organisations/" + s.seeded.Organisations[0].ID + "/invitations"
	guest := s.staff.newPerson("bob@alder.example")
	guest.signIn()
	if status := guest.ask(http.MethodGet, members, nil, nil); status != http.StatusNotFound {
		s.t.Errorf("a stranger saw members: %d", status)
	}
	owner.do(http.MethodPost, invitations, map[string]string{"email": guest.email, "role": "admin"}, nil)
	guest.accept()
	guest.do(http.MethodGet, members, nil, nil)
	if status := guest.ask(http.MethodPatch, members+"/"+guest.id, map[string]string{"role": "owner"},
		nil); status != http.StatusForbidden {
		s.t.Errorf("an admin became an owner: %d", status)
	}
	owner.do(http.MethodPatch, members+"/"+guest.id, map[string]string{"role": "viewer"}, nil)
	if status := guest.ask(http.MethodGet, invitations, nil, nil); status != http.StatusForbidden {
		s.t.Errorf("a viewer saw invitations: %d", status)
	}
	owner.do(http.MethodDelete, members+"/"+guest.id, nil, nil)
	if status := guest.ask(http.MethodGet, members, nil, nil); status != http.StatusNotFound {
		s.t.Errorf("whose membership has ended saw members: %d", status)
	}
	if status := owner.ask(http.MethodDelete, members+"/"+owner.id, nil, nil); status != http.StatusConflict {
		s.t.Errorf("the last owner went: %d", status)
	}
	var made struct{ ID string }
	owner.do(http.MethodPost, invitations, map[string]string{"email": "eve@birch.example", "role": "developer"}, &made)
	owner.do(http.MethodGet, invitations, nil, nil)
	owner.do(http.MethodDelete, invitations+"/"+made.ID, nil, nil)
	<-time.After(6 * time.Minute)
	owner.do(http.MethodGet, members, nil, nil)
}

func (p *person) newPasskey() *passkeytest.Key {
	p.t.Helper()
	var asked struct{ Options json.RawMessage }
	p.do(http.MethodPost, "/dashboard/account/passkeys/options", nil, &asked)
	made := passkeytest.New(p.t, "http://localhost:4566", "localhost")
	p.do(http.MethodPost, "/dashboard/account/passkeys",
		map[string]any{"name": "Telephone", "response": json.RawMessage(made.Create(p.t, asked.Options))}, nil)
	return made
}

func (p *person) show(key *passkeytest.Key) {
	p.t.Helper()
	var asked struct{ Options json.RawMessage }
	p.do(http.MethodPost, "/dashboard/session/passkey/options", nil, &asked)
	p.do(http.MethodPost, "/dashboard/session/passkey",
		map[string]any{"response": json.RawMessage(key.Get(p.t, asked.Options))}, nil)
}

func runFactors(s *stack, p *person) {
	s.t.Helper()
	p.signIn()
	first := p.newPasskey()
	p.show(first)
	second := p.newPasskey()
	var offer struct{ Secret string }
	p.do(http.MethodPost, "/dashboard/account/totp", nil, &offer)
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(offer.Secret)
	expect.NoError(s.t, err)
	code := func() map[string]string { return map[string]string{"code": totp.Code(key, totp.Step(time.Now()))} }
	p.do(http.MethodPut, "/dashboard/account/totp", code(), nil)
	var made struct {
		Codes []string `json:"recovery_codes"`
	}
	p.do(http.MethodPost, "/dashboard/account/recovery-codes", nil, &made)
	p.signIn()
	p.do(http.MethodPost, "/dashboard/session/recovery-code", map[string]string{"code": made.Codes[0]}, nil)
	if status := p.ask(http.MethodPost, "/dashboard/session/recovery-code", map[string]string{"code": made.Codes[1]},
		nil); status != http.StatusBadRequest {
		s.t.Errorf("a recovery code in a session that is complete: %d", status)
	}
	p.signIn()
	if status := p.ask(http.MethodPost, "/dashboard/account/passkeys/options", nil, nil); status != http.StatusForbidden {
		s.t.Errorf("before the second factor: %d", status)
	}
	p.do(http.MethodGet, "/dashboard/session", nil, nil)
	p.do(http.MethodPost, "/dashboard/session/totp", code(), nil)
	p.do(http.MethodDelete, "/dashboard/account/totp", nil, nil)
	p.do(http.MethodDelete, "/dashboard/account/passkeys/"+second.ID(), nil, nil)
	runAddress(s, p)
	p.show(first)
	s.staff.runStoppedRecovery(p)
	p.do(http.MethodDelete, "/dashboard/account/passkeys/"+first.ID(), nil, nil)
}

func (p *person) moveTo(email string) int {
	p.t.Helper()
	var sent sentCode
	p.do(http.MethodPost, "/dashboard/account/email", map[string]string{"email": email}, &sent)
	return p.ask(http.MethodPut, "/dashboard/account/email",
		map[string]string{"email": email, "verification_id": sent.ID, "code": p.staff.mailedCode(email)}, nil)
}

func runAddress(s *stack, p *person) {
	s.t.Helper()
	if status := p.moveTo("ada@cedar.example"); status != http.StatusOK {
		s.t.Errorf("another address: %d", status)
	}
	p.do(http.MethodPost, "/dashboard/account/email/restore",
		map[string]string{"token": mailed(s, p.email, "#/restore/")}, nil)
}

// TestDashboardReturnsDocumentedErrors checks that invalid dashboard requests get the documented errors. The test's
// client checks each response against the schema.
func TestDashboardReturnsDocumentedErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		owner, other := s.staff.newOwner(), s.staff.newPerson("bob@alder.example")
		other.signIn()
		want := func(what string, got, status int) {
			t.Helper()
			if got != status {
				t.Errorf("%s: answered %d, want %d", what, got, status)
			}
		}
		const account = "/dashboard/account/"
		unknown := map[string]string{"email": owner.email, "verification_id": unknownID, "code": "000000"}
		want("an unknown code", owner.ask(http.MethodPost, "/dashboard/session", unknown, nil), http.StatusNotFound)
		want("a link of nobody's", owner.ask(http.MethodPost, account+"email/restore", map[string]string{"token": "x"}, nil),
			http.StatusNotFound)
		want("an invitation of nobody's", owner.ask(http.MethodPost, "/dashboard/invitations",
			map[string]string{"token": "x"}, nil), http.StatusNotFound)
		for _, path := range []string{"totp", "email"} {
			want("an unknown method of "+path, owner.ask(http.MethodPatch, account+path, nil, nil), http.StatusMethodNotAllowed)
		}
		own := "/dashboard/organisations/" + s.seeded.Organisations[0].ID
		want("an unknown method of emails", owner.ask(http.MethodPatch, own+"/emails", nil, nil), http.StatusMethodNotAllowed)
		want("the last owner", owner.ask(http.MethodPatch, own+"/members/"+owner.id, map[string]string{"role": "viewer"},
			nil), http.StatusConflict)
		want("an address that is taken", owner.moveTo(other.email), http.StatusConflict)
		const moved = "ada@cedar.example"
		owner.do(http.MethodPost, own+"/invitations", map[string]string{"email": moved, "role": "viewer"}, nil)
		want("another address", owner.moveTo(moved), http.StatusOK)
		want("a member's invitation", owner.ask(http.MethodPost, "/dashboard/invitations",
			map[string]string{"token": mailed(s, moved, "#/invitation/")}, nil), http.StatusConflict)
		want("a second change", owner.ask(http.MethodPost, account+"email", map[string]string{"email": "ada@elm.example"},
			nil), http.StatusConflict)
		var sent sentCode
		late := s.staff.newPerson(owner.email)
		late.do(http.MethodPost, "/dashboard/session/codes", map[string]string{"email": late.email}, &sent)
		proof := map[string]string{"email": late.email, "verification_id": sent.ID, "code": s.staff.mailedCode(late.email)}
		want("the former address", late.ask(http.MethodPost, "/dashboard/session", proof, nil), http.StatusConflict)
		for range 10 {
			other.newPasskey()
		}
		want("an eleventh passkey", other.ask(http.MethodPost, account+"passkeys/options", nil, nil), http.StatusConflict)
	})
}

func TestDashboardLogsContainNoSecrets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		runPeople(s)
		logs := s.logs.String()
		for _, secret := range []string{
			"@alder.example", "@birch.example", "@cedar.example", "#/invitation", "otpauth",
			"clientDataJSON",
		} {
			if strings.Contains(logs, secret) {
				t.Errorf("the log has %q", secret)
			}
		}
		if codes := regexp.MustCompile(`"code":"\d{6}"`).FindString(logs); codes != "" {
			t.Errorf("the log has %s", codes)
		}
	})
}
