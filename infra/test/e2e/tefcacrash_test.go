package e2e_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
)

// twoHospitals is the subject identifier of a synthetic patient with records at two facilities.
const twoHospitals = "p06"

// TestFacilityConnectSurvivesCrashAnywhere checks that a patient who is asked to retry can still connect after a crash.
// Each chosen facility must have exactly one connection with tokens, reported once per authorisation. No identity data
// may remain.
func TestFacilityConnectSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, function := range []string{
		"IdentityFunction", "IdentityCallbackFunction", "LocateRecordsFunction",
		"AuthorizeVaultFunction", "TefcaWorkerFunction",
	} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			sweepCrashes(t, function, func(t *testing.T, s *stack) {
				t.Helper()
				connections := connectVaultUntilDone(t, s, twoHospitals)
				s.disarm(function)
				if len(connections) < 2 {
					t.Errorf("connected are %v", connections)
				}
				checkVault(t, s, len(connections))
				for _, id := range connections {
					s.org.startExport(id)
					s.clock.advance(2)
				}
				if told := s.webhooks.events("patient.ehi_export_success"); len(told) != len(connections) {
					t.Errorf("%d exports were told of %d connections", len(told), len(connections))
				}
			})
		})
	}
}

// checkVault checks that there are want connections, each complete and reported, and that expired identities have been
// deleted.
func checkVault(t *testing.T, s *stack, want int) {
	t.Helper()
	s.clock.advance(2)
	s.check.connectionsAreWhole(t)
	found := s.state.list("test-ConnectionTable", s.tenant()+"#CONN")
	if len(found) != want {
		t.Errorf("there are %d connections, want %d", len(found), want)
	}
	for _, key := range found {
		s.check.toldPerGeneration(t, key[strings.LastIndexByte(key, '#')+1:])
	}
	s.clock.advance(45)
	for _, row := range s.state.browse("test-WorkTable") {
		text, err := json.Marshal(row)
		expect.NoError(t, err)
		if strings.Contains(string(text), "#TEFCA#") &&
			(row["assertion"] != nil || row["local"] != nil || row["due_at"] != nil) {
			t.Errorf("what is left of an identity: %s", text)
		}
	}
}

// connectVaultUntilDone connects all facilities, following the pages' instructions as a patient would.
func connectVaultUntilDone(t *testing.T, s *stack, person string) map[string]string {
	t.Helper()
	for range 5 {
		v := beginVerificationUntilBegun(t, s)
		page := s.vault.identify(v, person, "approve")
		if page.status != http.StatusOK {
			checkTryAgain(t, page)
		}
		if done := chooseUntilConnected(t, s, v); done != nil {
			return done
		}
	}
	t.Fatal("the patient was never connected")
	return nil
}

func beginVerificationUntilBegun(t *testing.T, s *stack) verification {
	t.Helper()
	v := verification{publicID: s.seeded.Organisations[0].PublicID}
	for range 5 {
		made := s.call(http.MethodPost, "/bridge/tefca/identity?public_id="+url.QueryEscape(v.publicID), "", "",
			map[string]string{"provider": "simulated", "external_id": "patient-7"})
		if made.status == http.StatusOK {
			expect.NoError(t, json.Unmarshal(made.Data, &v))
			return v
		}
		checkFailure(t, made)
	}
	t.Fatal("no attempt was ever made")
	return v
}

// chooseUntilConnected polls an attempt and chooses the matched facilities until all are connected. It returns the
// connections, or nil if the attempt fails.
func chooseUntilConnected(t *testing.T, s *stack, v verification) map[string]string {
	t.Helper()
	for range 12 {
		s.clock.advance(1)
		got := s.vault.requestStatus(v)
		var l located
		if got.status != http.StatusOK {
			checkFailure(t, got)
			continue
		}
		expect.NoError(t, json.Unmarshal(got.Data, &l))
		switch l.Status {
		case "created", "open", "failed", "expired":
			return nil
		case "located":
			left := slices.DeleteFunc(l.chosen(), func(id string) bool { return l.connections()[id] != "" })
			if len(left) == 0 {
				return l.connections()
			}
			if got := s.vault.choose(v, left...); got.status != http.StatusOK && got.status < http.StatusInternalServerError {
				t.Fatalf("choosing answered %d %s", got.status, got.raw)
			}
		}
	}
	return nil
}

// TestPatientHasOneConnectionPerFacility checks that a patient who connects again does not get a second connection to
// the same facility. The test covers two concurrent tabs and devices, a later day, and a different external ID.
func TestPatientHasOneConnectionPerFacility(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		s.pollers = 3
		tabs := make([]verification, 3)
		for i := range tabs {
			tabs[i] = s.vault.beginVerification("patient-7")
			s.vault.identify(tabs[i], twoHospitals, "approve")
		}
		for _, v := range tabs {
			s.vault.awaitLocated(v, "located")
		}
		for _, v := range tabs {
			if got := s.vault.choose(v, s.vault.located(v).chosen()...); got.status != http.StatusOK {
				t.Fatalf("choosing answered %d %s", got.status, got.raw)
			}
		}
		first := s.vault.awaitLocated(tabs[0], "located").connections()
		for _, v := range tabs[1:] {
			if got := s.vault.awaitLocated(v, "located").connections(); len(got) != 2 || !maps.Equal(got, first) {
				t.Errorf("one tab has %v, another %v", first, got)
			}
		}
		checkVault(t, s, 2)
		for _, id := range first {
			if got := s.state.connection(id).number("generation"); got != 3 {
				t.Errorf("three sign-ins made generation %d", got)
			}
		}
		<-time.After(48 * time.Hour)
		if again := s.vault.connect(twoHospitals, "patient-7"); !maps.Equal(again, first) {
			t.Errorf("on another day they are %v, and were %v", again, first)
		}
		if other := s.vault.connect(twoHospitals, "patient-8"); len(other) != 2 || maps.Equal(other, first) {
			t.Errorf("of another external id they are %v", other)
		}
		checkVault(t, s, 4)
	})
}
