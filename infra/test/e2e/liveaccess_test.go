package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

const notGranted = "svc_live_access_required"

// newcomer is an organisation that has just signed up in the dashboard and completes the checklist step by step.
type newcomer struct {
	*stack

	founder *person
	own     string // path of the organisation's dashboard API
	live    org.Tenant
}

func (s staff) newNewcomer() newcomer {
	s.t.Helper()
	n := newcomer{stack: s.stack, founder: s.staff.newPerson("ada@cedar.example")}
	n.founder.signIn()
	var made struct{ ID string }
	n.founder.do(http.MethodPost, "/dashboard/organisations", map[string]string{"name": "Cedar Practice"}, &made)
	n.own, n.live = "/dashboard/organisations/"+made.ID, org.Tenant{Mode: org.Live, OrgID: made.ID}
	return n
}

func (n newcomer) access() (stage string, open []string) {
	n.t.Helper()
	var shown struct {
		Stage     string
		Checklist []struct {
			Step string
			Done bool
		}
	}
	n.founder.do(http.MethodGet, n.own+"/live-access", nil, &shown)
	for _, c := range shown.Checklist {
		if !c.Done {
			open = append(open, c.Step)
		}
	}
	return shown.Stage, open
}

func (n newcomer) request() int {
	n.t.Helper()
	body := map[string]any{
		"purpose":        "Patients of our practice share their records before a visit.",
		"terms_accepted": true,
	}
	return n.founder.ask(http.MethodPost, n.own+"/live-access", body, nil)
}

// complete completes the setup checklist. Before each step, it checks that a request for live mode is rejected.
func (n newcomer) complete() {
	n.t.Helper()
	control := store.Control{DB: store.NewClient(n.cloud.Config("test")), Table: n.template.Outputs["ControlTable"]}
	testMode := org.Tenant{Mode: org.Test, OrgID: n.live.OrgID}
	members := store.Accounts(control)
	for _, step := range []func(){
		func() {
			n.founder.do(http.MethodPatch, n.own, map[string]string{"privacy_policy_uri": "https://cedar.example/privacy"}, nil)
		},
		func() {
			all, err := members.Members(n.t.Context(), n.live.OrgID)
			expect.NoError(n.t, err)
			owner, err := members.Account(n.t.Context(), all[0].AccountID)
			expect.NoError(n.t, err)
			owner.Passkeys = []account.Passkey{{ID: "k", Name: "Key", Credential: []byte("{}"), CreatedAt: time.Now()}}
			expect.NoError(n.t, members.SaveAccount(n.t.Context(), owner))
		},
		func() {
			_, _, err := n.operator.Webhooks.Create(n.t.Context(),
				webhook.Draft{Tenant: testMode, URL: n.seeded.InboxURL + "/cedar"})
			expect.NoError(n.t, err)
			_, err = n.operator.Deliveries.SendTest(n.t.Context(), testMode)
			expect.NoError(n.t, err)
			n.clock.advance(5)
		},
	} {
		if status := n.request(); status != http.StatusConflict {
			n.t.Errorf("a request with an incomplete checklist: %d", status)
		}
		step()
	}
}

// checkLive checks that a live credential works as a key, as a public ID and in a browser if and only if isOpen is set.
func (n newcomer) checkLive(publicID, key string, isOpen bool) {
	n.t.Helper()
	query := "?public_id=" + url.QueryEscape(publicID)
	for path, got := range map[string]answer{
		"the events": n.call(http.MethodGet, "/bridge/events", publicID, key, nil),
		"an export": n.call(http.MethodPost, "/bridge/fhir/ehi-export", publicID, key,
			map[string]string{"org_connection_id": unknownID}),
		"its own org": n.call(http.MethodGet, "/bridge/org"+query, "", "", nil),
		"the search":  n.call(http.MethodPost, "/bridge/catalog/search"+query, "", "", map[string]string{"query": "a"}),
		"an attempt": n.call(http.MethodPost, "/bridge/attempts"+query, "", "",
			map[string]string{"endpoint_id": n.seeded.Sandbox.EndpointID}),
		"a code": n.call(http.MethodPost, "/bridge/email/codes"+query, "", "",
			map[string]string{"email": "ada@mail.example"}),
	} {
		if isClosed := got.status == http.StatusForbidden && got.Error == notGranted; isClosed == isOpen {
			n.t.Errorf("%s: %d %s, open: %v", path, got.status, got.Error, isOpen)
		}
	}
	if !isOpen {
		n.checkClosed(publicID, key)
	}
	for _, path := range []string{"/bridge/connect", "/bridge/reconnect", "/widget/embed"} {
		page := n.send(http.MethodGet, path+query+"&redirect_uri="+url.QueryEscape("https://cedar.example/return"),
			http.Header{}, nil)
		if isClosed := page.status == http.StatusBadRequest &&
			strings.Contains(string(page.raw), notGranted); isClosed == isOpen {
			n.t.Errorf("%s: %d, open: %v", path, page.status, isOpen)
		}
	}
}

// checkClosed checks that all other operations reject a live credential.
func (n newcomer) checkClosed(publicID, key string) {
	n.t.Helper()
	task := strings.ReplaceAll(unknownID, "-", "")
	for operation, body := range map[string]any{
		"GET /bridge/fhir/ehi-export/" + task:                                  nil,
		"GET /bridge/fhir/ehi-export/" + task + "/download/" + task + ".jsonl": nil,
		"DELETE /bridge/fhir/ehi-export/" + task + "/files":                    nil,
		"GET /bridge/org_connection/" + unknownID:                              nil,
		"DELETE /bridge/org_connection/" + unknownID:                           nil,
		"GET /bridge/catalog/export":                                           nil,
		"GET /bridge/catalog?":                                                 nil,
		"GET /bridge/attempts/" + unknownID + "?":                              nil,
		"DELETE /bridge/attempts/" + unknownID + "?":                           nil,
		"GET /bridge/tefca/records/" + unknownID + "?":                         nil,
		"DELETE /bridge/tefca/records/" + unknownID + "?":                      nil,
		"POST /bridge/tefca/records/" + unknownID +
			"/authorization?": map[string]any{"tefca_directory_ids": []string{"a"}},
		"POST /bridge/email/verification?": map[string]string{"verification_id": unknownID, "code": "000000"},
		"POST /support/healthsystem?":      map[string]string{"email": "a@mailbox.example", "name": "Alder"},
		"POST /support/request?": map[string]string{
			"email": "a@mailbox.example", "name": "Ada", "subject": "Help",
			"body": "Me",
		},
	} {
		method, path, _ := strings.Cut(operation, " ")
		id, secret := publicID, key
		if strings.HasSuffix(path, "?") {
			path, id, secret = path+"public_id="+url.QueryEscape(publicID), "", ""
		}
		if got := n.call(method, path, id, secret, body); got.status != http.StatusForbidden || got.Error != notGranted {
			n.t.Errorf("%s: %d %s", operation, got.status, got.Error)
		}
	}
}

// TestLiveModeRequiresGrantedAccess follows a new organisation through the checklist and through the approval, use and
// withdrawal of live access.
func TestLiveModeRequiresGrantedAccess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		n := s.staff.newNewcomer()
		if stage, open := n.access(); stage != "none" || len(open) != 3 { // the founder's email was verified at sign-up
			t.Errorf("a newcomer is %s with %q open", stage, open)
		}
		draft := map[string]any{"redirect_uris": []string{"https://cedar.example/return"}}
		if status := n.founder.ask(http.MethodPost, n.own+"/live/credentials", draft, nil); status != http.StatusForbidden {
			t.Errorf("a live credential before the approval: %d", status)
		}
		n.complete()
		if status := n.request(); status != http.StatusOK {
			t.Fatalf("the request: %d", status)
		}
		if status := n.founder.ask(http.MethodPatch, n.own, map[string]string{"name": "Maple Clinic"},
			nil); status != http.StatusConflict {
			t.Errorf("another name during the review: %d", status)
		}
		waiting, err := s.operator.LiveReviews.List(t.Context())
		if err != nil || len(waiting) != 1 || waiting[0].Organisation.ID != n.live.OrgID ||
			waiting[0].Organisation.LiveReview.RequestedBy == "" {
			t.Errorf("waiting are %+v (%v)", waiting, err)
		}
		_, err = s.operator.LiveReviews.Approve(t.Context(), n.live, false)
		expect.NoError(t, err)
		credential, key, err := s.operator.Credentials.Create(t.Context(),
			operator.CredentialDraft{Tenant: n.live, Redirects: []string{"https://cedar.example/return"}})
		expect.NoError(t, err)
		n.checkLive(credential.PublicID(), key.Reveal(), true)
		_, err = s.operator.LiveReviews.Withdraw(t.Context(), n.live, "Its website is gone.")
		expect.NoError(t, err)
		<-time.After(cached)
		n.checkLive(credential.PublicID(), key.Reveal(), false)
		if got := n.call(http.MethodGet, "/bridge/events", credential.PublicID(), key.Reveal()+"x",
			nil); got.status != http.StatusUnauthorized {
			t.Errorf("a wrong key: %d", got.status)
		}
		if stage, _ := n.access(); stage != "withdrawn" {
			t.Errorf("it is %s", stage)
		}
		n.clock.advance(5)
		sent := 0
		for _, m := range s.cloud.SES().Sent() {
			if strings.Contains(m.Subject, "Live mode was") {
				sent++
			}
		}
		if sent != 2 {
			t.Errorf("%d e-mails about live mode were sent, want one for each decision", sent)
		}
	})
}
