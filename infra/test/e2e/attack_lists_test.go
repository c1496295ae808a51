package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
)

// imported imports an institution list into test mode and publishes the catalogue.
func (m *mixup) imported(id string, priority int, rows ...string) {
	m.t.Helper()
	_, err := m.operator.CatalogSources.Set(m.t.Context(), id, func(s *intake.Source) {
		s.Name, s.Mode, s.Format, s.Platform, s.Priority = id, "test", listing.LanternNDJSON, "sandbox", priority
	})
	expect.NoError(m.t, err)
	_, outcome, err := m.operator.CatalogSources.Import(m.t.Context(), id, strings.NewReader(strings.Join(rows, "\n")))
	expect.NoError(m.t, err)
	if outcome != intake.Accepted {
		m.t.Fatalf("the list %s is %s", id, outcome)
	}
	_, err = m.operator.Catalog.Publish(m.t.Context(), "test", false)
	expect.NoError(m.t, err)
}

// TestConnectWithholdsCodeFromHostInHostileList checks that the client does not send a code to a host that only an
// imported list names. An imported list with priority 0 assigns the attacker's server to the hospital. The hospital's
// portal omits iss, and the client is a public client registered for the whole platform. As a control, the attack
// succeeds once an operator approves the host.
func TestConnectWithholdsCodeFromHostInHostileList(t *testing.T) {
	t.Parallel()
	const npi = "1234567893"
	for name, row := range map[string]string{
		"another name with its NPI": `{"name":"Rowan Clinic","url":"` + hostileBase + `","npi":"` + npi + `"}`,
		"its name and ZIP":          `{"name":"Hazel Hospital","url":"` + hostileBase + `","zip":"53703"}`,
		"a platform alone":          `{"name":"Rowan Clinic","url":"` + hostileBase + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newMixup(t)
				m.silent = baseURL + "/sandbox/with/iss:missing"
				_, err := m.operator.Registrations.Set(t.Context(), org.Tenant{},
					catalog.Place{Mode: "test", PlatformType: "sandbox"}, operator.Change{ClientID: new(sandbox.DefaultClientID)})
				expect.NoError(t, err)
				m.imported("vendor", 70, `{"name":"Hazel Hospital","url":"`+m.silent+`/fhir","npi":"`+npi+`","zip":"53703"}`)
				hazel := m.catalog.institution("test", "hazel hosp")
				m.imported("hostile", 0, row)
				hostile, err := operator.EndpointID("test", hostileBase)
				expect.NoError(t, err)
				if again := m.catalog.institution("test", "hazel hosp"); again != hazel {
					t.Errorf("the hospital was %+v and is %+v", hazel, again)
				}
				m.patient.browser().open(m.connectURLTo(hostile), crashPersona, "approve")
				m.clock.advance(1)
				m.checkHarmless(t)

				for range 2 { // the host needs approval first for the hospital, then for the platform
					hosts, refused := m.operator.CatalogOverrides.AllowHosts(
						t.Context(), "test", operator.HostChoice{Host: catalog.Host(hostileBase)},
					)
					if refused != nil || len(hosts) != 1 {
						break
					}
					_, err = m.operator.Catalog.Publish(t.Context(), "test", false)
					expect.NoError(t, err)
				}
				m.patient.browser().open(m.connectURLTo(hostile), crashPersona, "approve")
				m.clock.advance(1)
				m.mu.Lock()
				defer m.mu.Unlock()
				if !slices.Contains(m.got, "code") || !slices.Contains(m.got, "code_verifier") {
					t.Errorf("let in, the hostile portal was shown %q: the attack is none", m.got)
				}
			})
		})
	}
}
