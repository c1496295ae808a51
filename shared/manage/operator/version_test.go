package operator_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/version"
)

// raced is an object that is edited while another writer changes it.
type raced struct {
	edit        func(ctx context.Context, from version.Match) error // sets a note or a font to "mine"
	change      func(isEdit bool) error                             // sets it to "theirs", or changes another attribute
	version     func() string
	show        func() string // returns the note or the font
	isPreserved func() bool   // reports whether the other attribute has the other writer's value
}

func newRacedCredential(t *testing.T, r *fixture, tenant org.Tenant) raced {
	t.Helper()
	made, _, err := r.operator.Credentials.Create(t.Context(),
		operator.CredentialDraft{Tenant: tenant, Redirects: []string{"https://app.example/return"}})
	expect.NoError(t, err)
	rows := store.Callers(r.control)
	find := func() org.Credential {
		found, err := rows.Credential(t.Context(), tenant, made.ID)
		expect.NoError(t, err)
		return found
	}
	return raced{
		edit: func(ctx context.Context, from version.Match) error {
			_, err := r.operator.Credentials.Change(ctx, made.PublicID(),
				operator.CredentialChange{Note: new("mine"), From: from})
			return err
		},
		change: func(isEdit bool) error {
			theirs := find()
			if theirs.Keys[0].RevokedAt = made.CreatedAt; isEdit {
				theirs.Note = "theirs"
			}
			return rows.SaveCredential(t.Context(), theirs)
		},
		version: func() string { return find().Version() }, show: func() string { return find().Note },
		isPreserved: func() bool { return !find().Keys[0].RevokedAt.IsZero() },
	}
}

func newRacedWebhook(t *testing.T, r *fixture, tenant org.Tenant) raced {
	t.Helper()
	made, _, err := r.operator.Webhooks.Create(t.Context(),
		webhook.Draft{Tenant: tenant, URL: "https://hooks.example/in", Optional: webhook.Default()})
	expect.NoError(t, err)
	rows := store.Hooks(r.control)
	find := func() webhook.Subscription {
		found, err := rows.Subscriptions(t.Context(), tenant)
		expect.NoError(t, err)
		return found[0]
	}
	return raced{
		edit: func(ctx context.Context, from version.Match) error {
			_, err := r.operator.Webhooks.Change(ctx, tenant, made.ID,
				operator.WebhookChange{Edit: webhook.Edit{Note: new("mine")}, From: from})
			return err
		},
		change: func(isEdit bool) error {
			theirs := find()
			if theirs.Disabled = true; isEdit {
				theirs.Note = "theirs"
			}
			return rows.SaveSubscription(t.Context(), theirs)
		},
		version: func() string { return find().Version() }, show: func() string { return find().Note },
		isPreserved: func() bool { return find().Disabled },
	}
}

func newRacedOrganisation(t *testing.T, r *fixture, tenant org.Tenant) raced {
	t.Helper()
	rows := store.Organisations(r.control)
	find := func() org.Organisation {
		found, err := rows.Organisation(t.Context(), tenant)
		expect.NoError(t, err)
		return found
	}
	return raced{
		edit: func(ctx context.Context, from version.Match) error {
			_, err := r.operator.Organisations.Change(ctx, tenant, operator.OrganisationChange{Font: new("mine"), From: from})
			return err
		},
		change: func(isEdit bool) error {
			theirs := find()
			if theirs.Status = org.Inactive; isEdit {
				theirs.Look.Font = "theirs"
			}
			return rows.SaveOrganisation(t.Context(), theirs)
		},
		version: func() string { return find().Version() }, show: func() string { return find().Look.Font },
		isPreserved: func() bool { return find().Status == org.Inactive },
	}
}

func TestChangeComparesVersionWithRowThatItReplaces(t *testing.T) {
	t.Parallel()
	for name, newRaced := range map[string]func(*testing.T, *fixture, org.Tenant) raced{
		"credential": newRacedCredential, "webhook": newRacedWebhook, "organisation": newRacedOrganisation,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newFixture(t)
			made, err := r.operator.Organisations.Create(t.Context(), org.Organisation{Name: "Alder", Plan: org.Free})
			expect.NoError(t, err)
			object := newRaced(t, r, made.Tenants()[0])
			edit := func(isEdit bool) error {
				from, err := version.Parse(strconv.Quote(object.version()))
				expect.NoError(t, err)
				r.meanwhile = func() { expect.NoError(t, object.change(isEdit)) }
				return object.edit(t.Context(), from)
			}
			if err := edit(false); err != nil || object.show() != "mine" || !object.isPreserved() {
				t.Errorf("an edit during a change of another attribute: %v, shows %q", err, object.show())
			}
			if err := edit(true); !errors.Is(err, fault.Conflict) || fault.IsStale(err) || object.show() != "theirs" {
				t.Errorf("an edit during another edit: %v, shows %q, want a conflict that isn't retried", err, object.show())
			}
		})
	}
}
