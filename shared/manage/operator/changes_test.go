package operator_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// marker is part of every secret and every personal value in these tests.
const marker = "marker"

// edits collects the changes recorded in an organisation's audit log.
type edits struct {
	*fixture

	org  org.Organisation
	seen int64
}

func newEdits(t *testing.T) *edits {
	t.Helper()
	e := &edits{fixture: newFixture(t)}
	var err error
	e.org, err = e.operator.Organisations.Create(t.Context(), org.Organisation{
		Name: "Alder", Plan: org.Free, Emails: []string{marker + "@alder.example"},
	})
	expect.NoError(t, err)
	return e
}

func (e *edits) tenant() org.Tenant { return org.Tenant{Mode: org.Test, OrgID: e.org.ID} }

func (e *edits) rows(t *testing.T) []audit.Row {
	t.Helper()
	rows, err := e.log.Rows.After(t.Context(), e.org.ID, 0, 100)
	expect.NoError(t, err)
	return rows
}

// check compares the rows added since the last check with lines of the form "action: field old>new, …".
func (e *edits) check(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, row := range e.rows(t) {
		if row.Seq <= e.seen {
			continue
		}
		changes := make([]string, len(row.Changes))
		for i, c := range row.Changes {
			changes[i] = c.Field + " " + c.Old + ">" + c.New
		}
		got, e.seen = append(got, row.Action+": "+strings.Join(changes, ", ")), row.Seq
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audit rows (-want +got):\n%s", diff)
	}
}

// checkHidden checks that no row contains a marker or one of the given secrets.
func (e *edits) checkHidden(t *testing.T, secrets ...string) {
	t.Helper()
	for _, row := range e.rows(t) {
		text, err := json.Marshal(row)
		expect.NoError(t, err)
		for _, hidden := range append(secrets, marker) {
			if strings.Contains(string(text), hidden) {
				t.Errorf("row %s contains %q", text, hidden)
			}
		}
	}
}

func TestWebhookChangesAreAuditedWithoutSecrets(t *testing.T) {
	t.Parallel()
	e := newEdits(t)
	e.check(t, "organisation.created: name >Alder, plan >free, status >active, live_access >none, notice_addresses 0>1")
	hooks, of := e.operator.Webhooks, e.tenant()
	made, signing, err := hooks.Create(t.Context(), webhook.Draft{
		Tenant: of, URL: "https://hooks.example/in?key=" + marker + "1", Note: "main", Rate: 3, SigningKey: true,
		Headers: map[string]string{"X-Key": marker + "2", "X-Old": "x"},
	})
	expect.NoError(t, err)
	e.check(t, "webhook.created: url >https://hooks.example/in, url_query >hidden, "+
		"rate >3, note >main, headers >X-Key, headers >X-Old, signing_key off>on")
	change := func(c operator.WebhookChange) {
		t.Helper()
		_, failed := hooks.Change(t.Context(), of, made.ID, c)
		expect.NoError(t, failed)
	}
	change(operator.WebhookChange{Edit: webhook.Edit{
		Headers: map[string]string{"X-Key": marker + "3", "X-New": marker + "4"}, Rate: new(int), Note: new(""),
	}})
	e.check(t, "webhook.changed: rate 3>, note main>, headers X-Old>, headers >X-New, header_values hidden>hidden")
	change(operator.WebhookChange{Edit: webhook.Edit{SigningKey: new(true)}})
	change(operator.WebhookChange{Edit: webhook.Edit{SigningKey: new(false)}})
	e.check(t, "webhook.changed: signing_key on>replaced", "webhook.changed: signing_key on>off")
	change(operator.WebhookChange{URL: new("https://hooks.example/in?key=" + marker + "5")})
	change(operator.WebhookChange{URL: new("https://other.example/in")})
	e.check(t, "webhook.moved: url_query hidden>hidden",
		"webhook.moved: url https://hooks.example/in>https://other.example/in, url_query hidden>, headers X-Key>, "+
			"headers X-New>")
	change(operator.WebhookChange{Optional: []webhook.Type{webhook.ConnectionSucceeded}})
	change(operator.WebhookChange{Optional: []webhook.Type{}})
	e.check(t, "webhook.changed: types >"+string(webhook.ConnectionSucceeded),
		"webhook.changed: types "+string(webhook.ConnectionSucceeded)+">")
	rotated, second, err := hooks.Rotate(t.Context(), of, made.ID, false)
	expect.NoError(t, err)
	expect.NoError(t, hooks.Disable(t.Context(), of, rotated.ID))
	_, _, err = hooks.Enable(t.Context(), of, made.ID)
	expect.NoError(t, err)
	expect.NoError(t, hooks.Disable(t.Context(), of, made.ID))
	expect.NoError(t, hooks.Remove(t.Context(), of, made.ID))
	e.check(t, "webhook.rotated: ", "webhook.disabled: status enabled>disabled",
		"webhook.enabled: status disabled>enabled", "webhook.disabled: status enabled>disabled",
		"webhook.removed: url https://other.example/in>")
	e.checkHidden(t, signing.Reveal(), second.Reveal())
}

func TestCredentialChangesAreAuditedWithoutKeys(t *testing.T) {
	t.Parallel()
	e := newEdits(t)
	e.seen = 1
	made, private, err := e.operator.Credentials.Create(t.Context(), operator.CredentialDraft{
		Tenant: e.tenant(), Note: "web", Redirects: []string{"https://app.example/a"},
	})
	expect.NoError(t, err)
	_, second, err := e.operator.Credentials.AddKey(t.Context(), made.PublicID())
	expect.NoError(t, err)
	_, err = e.operator.Credentials.Change(t.Context(), made.PublicID(), operator.CredentialChange{
		Note: new("app"), Redirects: []string{"https://app.example/b"}, Origins: []string{"https://app.example"},
	})
	expect.NoError(t, err)
	_, _, err = e.operator.Credentials.Revoke(t.Context(), made.PublicID(), operator.Revocation{AllowNone: true})
	expect.NoError(t, err)
	expect.NoError(t, e.operator.Credentials.Remove(t.Context(), made.PublicID()))
	e.check(t, "credential.created: note >web, redirect_uris >https://app.example/a", "key.created: ",
		"credential.changed: note web>app, redirect_uris https://app.example/a>, redirect_uris >https://app.example/b, "+
			"allowed_origins >https://app.example", "key.revoked: ",
		"credential.removed: note app>, redirect_uris https://app.example/b>, allowed_origins https://app.example>")
	e.checkHidden(t, private.Reveal(), second.Reveal())
}

func TestOrganisationChangesAreAuditedWithoutEmailAddresses(t *testing.T) {
	t.Parallel()
	e := newEdits(t)
	e.seen = 1
	live := org.Tenant{Mode: org.Live, OrgID: e.org.ID}
	set := func(c operator.OrganisationChange) {
		t.Helper()
		_, err := e.operator.Organisations.ChangeOwn(t.Context(), live, c)
		expect.NoError(t, err)
	}
	set(operator.OrganisationChange{
		Name: new("Birch"), Website: new("https://birch.example/"), Privacy: new("https://birch.example/privacy"),
		Terms: new("https://birch.example/terms"), Logo: new("https://birch.example/" + marker + ".svg"),
		Accent: new("#1a5fb4"), Radius: new("0"), Font: new("Inter"), ColorScheme: new("dark"),
		PurposeEN: new("Read records"), PurposeES: new("Leer datos"),
	})
	e.check(t, "organisation.changed: name Alder>Birch, website_uri >https://birch.example/, "+
		"privacy_policy_uri >https://birch.example/privacy, terms_uri >https://birch.example/terms, "+
		"logo >sha256:a3cf4eec0d404a02, accent >#1a5fb4, radius >0, font >Inter, color_scheme >dark, purpose >Read records, "+
		"purpose_es >Leer datos")
	set(operator.OrganisationChange{Plan: new("paid"), Radius: new(""), Emails: []string{marker + "b@alder.example"}})
	expect.NoError(t, e.operator.Organisations.SetEmails(t.Context(), live, nil))
	e.check(t, "organisation.changed: plan free>paid, radius 0>, notice_addresses 1>1",
		"organisation.emails_changed: notice_addresses 1>0")
	expect.NoError(t, e.operator.Suspensions.Suspend(t.Context(), live))
	expect.NoError(t, e.operator.Suspensions.Resume(t.Context(), live))
	_, err := e.operator.LiveReviews.Approve(t.Context(), live, true)
	expect.NoError(t, err)
	_, err = e.operator.LiveReviews.Withdraw(t.Context(), live, "Because of "+marker)
	expect.NoError(t, err)
	e.check(t, "organisation.suspended: status active>inactive", "organisation.resumed: status inactive>active",
		"live_access.approved: live_access none>granted", "live_access.withdrawn: live_access granted>withdrawn")
	e.checkHidden(t)
}
