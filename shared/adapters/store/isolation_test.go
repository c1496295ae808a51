package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// foreignTenants returns tenants that must not access tenant's rows: the other mode, another organisation, and
// fictitious tenants whose keys resemble the start of a row's key.
func foreignTenants() map[string]org.Tenant {
	return map[string]org.Tenant{
		"the other mode":             {Mode: org.Live, OrgID: orgA},
		"another organisation":       {Mode: org.Test, OrgID: orgB},
		"both":                       {Mode: org.Live, OrgID: orgB},
		"no organisation":            {Mode: org.Test},
		"an id with the separator":   {Mode: org.Test, OrgID: orgA + "#CONN#" + connID},
		"an organisation cut short":  {Mode: org.Test, OrgID: orgA[:35]},
		"a mode with the separator":  {Mode: "test#" + orgA, OrgID: "CONN"},
		"the same id in upper case":  {Mode: org.Test, OrgID: "0A000000-0000-4000-8000-00000000000A"},
		"an organisation of nothing": {},
	}
}

// TestStoreMethodsAreTenantIsolated calls every tenant-specific method with valid IDs but the wrong tenant. The store
// contains every kind of row. Reads must fail as they do for an unknown ID, and writes as they do for a missing row.
func TestStoreMethodsAreTenantIsolated(t *testing.T) {
	t.Parallel()
	methods := []struct {
		name string
		want error
		call func(ctx context.Context, s stores, of org.Tenant) error
	}{
		{"Credential", fault.NotFound, func(ctx context.Context, s stores, of org.Tenant) error {
			_, err := s.callers.Credential(ctx, of, credentialOf(tenant).ID)
			return err
		}},
		{"SaveCredential", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.callers.SaveCredential(ctx, credentialOf(of))
		}},
		{"RemoveCredential", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.callers.RemoveCredential(ctx, credentialOf(of))
		}},
		{"Connection", fault.NotFound, func(ctx context.Context, s stores, of org.Tenant) error {
			_, err := s.conns.Connection(ctx, of, connID)
			return err
		}},
		{"InspectConnection", fault.NotFound, func(ctx context.Context, s stores, of org.Tenant) error {
			_, _, err := s.conns.InspectConnection(ctx, of, connID)
			return err
		}},
		{"ConnectionsBefore", fault.NotFound, func(ctx context.Context, s stores, of org.Tenant) error {
			found, _, err := s.conns.ConnectionsBefore(ctx, of, "", 10)
			return noneIsMissing(found, err)
		}},
		{"ConnectionsOfBefore", fault.NotFound, func(ctx context.Context, s stores, of org.Tenant) error {
			found, _, err := s.conns.ConnectionsOfBefore(ctx, of, connectionOf(tenant).External, "", 10)
			return noneIsMissing(found, err)
		}},
		{"Tokens", fault.NotFound, func(ctx context.Context, s stores, of org.Tenant) error {
			_, err := s.tokens.Tokens(ctx, of, connID)
			return err
		}},
		{"LeaseTokens", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			row := tokensOf(of)
			row.LeaseOwner, row.LeaseUntil, row.RefreshStartedAt = "intruder", now.Add(time.Minute), now.Add(-2*time.Minute)
			return s.tokens.LeaseTokens(ctx, row, now)
		}},
		{"ReleaseTokens", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			row := tokensOf(of)
			row.LeaseOwner = "owner"
			return s.tokens.ReleaseTokens(ctx, row)
		}},
		{"RotateTokens", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			row := tokensOf(of)
			row.Version = 2
			return s.tokens.RotateTokens(ctx, row)
		}},
		{"Attempt", fault.NotFound, func(ctx context.Context, s stores, of org.Tenant) error {
			_, err := s.flow.Attempt(ctx, of, attemptOf(tenant).ID)
			return err
		}},
		{"ConcludeAttempt", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.flow.ConcludeAttempt(ctx, conclusionOf(of))
		}},
		{"LatestTask", fault.NotFound, func(ctx context.Context, s stores, of org.Tenant) error {
			_, err := s.tasks.LatestTask(ctx, of, connID)
			return err
		}},
		{"Task", fault.NotFound, func(ctx context.Context, s stores, of org.Tenant) error {
			_, err := s.tasks.Task(ctx, of, taskID)
			return err
		}},
		{"InspectTask", fault.NotFound, func(ctx context.Context, s stores, of org.Tenant) error {
			_, _, _, err := s.tasks.InspectTask(ctx, of, taskID)
			return err
		}},
		{"TasksBefore", fault.NotFound, func(ctx context.Context, s stores, of org.Tenant) error {
			found, _, err := s.tasks.TasksBefore(ctx, of, "", 10)
			return noneIsMissing(found, err)
		}},
		{"OpenTask", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			task := pendingTask(of)
			task.ID = taskNumber(9)
			return s.register.OpenTask(ctx, task, taskID)
		}},
		{"OpenTask without a previous one", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.register.OpenTask(ctx, pendingTask(of), "")
		}},
		{"ResendEvent", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.tasks.ResendEvent(ctx, pendingTask(of), eventOf(of, "new"))
		}},
		{"ClaimTask", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			_, err := s.tasks.ClaimTask(ctx, of, taskID, now.Add(time.Hour), now.Add(2*time.Hour))
			return err
		}},
		{"ExtendTask", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.tasks.ExtendTask(ctx, claimedTask(of), now.Add(time.Hour))
		}},
		{"ReportTask", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.tasks.ReportTask(ctx, claimedTask(of), now.Add(time.Hour), eventOf(of, "progress"))
		}},
		{"ContinueTask", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			_, err := s.tasks.ContinueTask(ctx, claimedTask(of), now.Add(time.Hour))
			return err
		}},
		{"YieldTask", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.tasks.YieldTask(ctx, claimedTask(of), now, now)
		}},
		{"FinishTask", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			task := claimedTask(of)
			task.Status = export.Success
			return s.tasks.FinishTask(ctx, task, eventOf(of, "new"))
		}},
		{"ForgetFile", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.tasks.ForgetFile(ctx, pendingTask(of))
		}},
		{"Postpone", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			at := now.Add(time.Minute) // the claimed task's due time
			return s.timers.Postpone(ctx, due.Item{Tenant: of, Kind: due.Task, ID: taskID, At: at}, at.Add(time.Hour))
		}},
		{"Event", fault.NotFound, func(ctx context.Context, s stores, of org.Tenant) error {
			_, err := s.events.Event(ctx, of, eventID)
			return err
		}},
		{"FanOut", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			delivery := deliveryOf(of)
			delivery.ID = "d0000000-0000-4000-8000-000000000002"
			return s.events.FanOut(ctx, eventOf(of, conclusionOf(of).Events[0].ID), []webhook.Delivery{delivery})
		}},
		{"ClaimDelivery", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			_, err := s.deliveries.ClaimDelivery(ctx, of, delivID, now.Add(time.Hour), now.Add(2*time.Hour))
			return err
		}},
		{"RecordAttempt", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.deliveries.RecordAttempt(ctx, deliveryOf(of), webhook.Attempt{Number: 1, At: now})
		}},
		{"ParkDelivery", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.deliveries.ParkDelivery(ctx, deliveryOf(of))
		}},
		{"SaveSubscription", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.hooks.SaveSubscription(ctx, webhook.Subscription{ID: hookID, Tenant: of, Rev: 1})
		}},
		{"MoveSubscription", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.hooks.MoveSubscription(ctx, webhook.Subscription{ID: hookID, Tenant: of, Rev: 1})
		}},
		{"RemoveSubscription", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.hooks.RemoveSubscription(ctx, webhook.Subscription{ID: hookID, Tenant: of, Rev: 1})
		}},
		{"DisableSubscription", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.hooks.DisableSubscription(ctx, of, hookID, webhook.ReasonGone, now)
		}},
		{"ClearFailures", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.hooks.ClearFailures(ctx, of, hookID, now)
		}},
		{"ReviseHealth", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			return s.hooks.ReviseHealth(ctx, of, hookID, webhook.Health{Failures: 1}, webhook.Health{Failures: 1, Warned: 1})
		}},
		{"TryCode", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			_, err := s.flow.TryCode(ctx, of, codeOf(of).ID, now, 5)
			return err
		}},
		{"ExchangeCode", fault.Conflict, func(ctx context.Context, s stores, of org.Tenant) error {
			t := emailTokenOf(of)
			t.Hash = "another"
			return s.flow.ExchangeCode(ctx, codeOf(of), t)
		}},
		{"EmailToken", fault.NotFound, func(ctx context.Context, s stores, of org.Tenant) error {
			_, err := s.flow.EmailToken(ctx, of, emailTokenOf(of).Hash)
			return err
		}},
		{"Sendings", fault.NotFound, func(ctx context.Context, s stores, of org.Tenant) error {
			found, err := s.flow.Sendings(ctx, of, sendingsOf(of).Mailbox)
			if err == nil && found.Rev == 0 {
				return fault.NotFound
			}
			return err
		}},
	}
	s := newStores(t)
	fillAll(t, s)
	before := s.writes.Load()
	for name, foreign := range foreignTenants() {
		for _, m := range methods {
			if err := m.call(t.Context(), s, foreign); !errors.Is(err, m.want) {
				t.Errorf("%s of %s = %v, want %v", m.name, name, err, m.want)
			}
		}
	}
	if after := s.writes.Load(); after != before {
		t.Errorf("foreign calls changed rows: %d writes", after-before)
	}
	for _, m := range methods {
		// If the tenant's own calls succeed, the foreign calls can have failed only because the tenant was wrong. Two
		// methods are exempt because fillAll has already stored their results.
		if m.name == "OpenTask without a previous one" || m.name == "ConcludeAttempt" {
			continue
		}
		own := newStores(t)
		fillAll(t, own)
		if m.name == "ResendEvent" || m.name == "ForgetFile" {
			finished := claimedTask(tenant)
			finished.Status = export.Success
			expect.NoError(t, own.tasks.FinishTask(t.Context(), finished, eventOf(tenant, "done")))
		}
		if err := m.call(t.Context(), own, tenant); err != nil {
			t.Errorf("%s of the tenant itself = %v: the attacks above prove nothing", m.name, err)
		}
	}
}

// noneIsMissing returns fault.NotFound if the list is empty and err is nil.
func noneIsMissing(found []string, err error) error {
	if err == nil && len(found) == 0 {
		return fault.NotFound
	}
	return err
}

func TestOrganisationIsIsolatedByMode(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.organisations.CreateOrganisation(t.Context(), organisationA()))
	for name, foreign := range foreignTenants() {
		if name == "the other mode" {
			continue
		}
		_, err := s.organisations.Organisation(t.Context(), foreign)
		expect.NotFound(t, "Organisation of "+name, err)
	}
}

func claimedTask(of org.Tenant) export.Task {
	task := pendingTask(of)
	task.Generation = 1
	return task
}

// fillAll stores a row of every kind for tenant, including a claimed task, a leased token set and a delivery in flight.
func fillAll(t *testing.T, s stores) {
	t.Helper()
	ctx := t.Context()
	expect.NoError(t, s.organisations.CreateOrganisation(ctx, organisationA()))
	expect.NoError(t, s.callers.CreateCredential(ctx, credentialOf(tenant)))
	s.open(t, tenant)
	row := tokensOf(tenant)
	row.LeaseOwner, row.LeaseUntil = "owner", now.Add(-time.Minute)
	expect.NoError(t, s.tokens.LeaseTokens(ctx, row, now.Add(-2*time.Minute)))
	_, err := s.tasks.ClaimTask(ctx, tenant, taskID, now, now.Add(time.Minute))
	expect.NoError(t, err)
	s.fanOut(t, tenant)
	expect.NoError(t, s.hooks.CreateSubscription(ctx, subscriptionA()))
	_, err = s.hooks.CountFailure(ctx, tenant, hookID, now)
	expect.NoError(t, err)
	s.verify(t)
}
