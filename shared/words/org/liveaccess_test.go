package org_test

import (
	"errors"
	"testing"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// newLiveWorld is like newWorld, but its live credential belongs to an organisation at the given stage of live access.
func newLiveWorld(t *testing.T, stage org.LiveAccess) *world {
	t.Helper()
	w := newWorld(t)
	w.key = secret.New(newKey(t, org.Live))
	w.credential.Tenant.Mode, w.credential.Keys = org.Live, []org.Key{w.keyOf(w.key)}
	w.organisation.LiveAccess = stage
	return w
}

// doors calls each method that looks up an organisation by public ID and returns the errors.
func (w *world) doors(t *testing.T) map[string]error {
	t.Helper()
	const publicID = "public_live_" + credential
	_, keyed := w.directory.Authenticate(t.Context(), publicID, w.key)
	_, public := w.directory.ByPublicID(t.Context(), publicID)
	found, shown := w.directory.Organisation(t.Context(), publicID)
	if shown != nil && found.Name != "" {
		t.Errorf("Organisation returned %q with the error %v", found.Name, shown)
	}
	return map[string]error{"Authenticate": keyed, "ByPublicID": public, "Organisation": shown}
}

func TestDirectoryRejectsLiveModeUntilGranted(t *testing.T) {
	t.Parallel()
	for _, stage := range []org.LiveAccess{org.LiveNone, org.LiveRequested, org.LiveWithdrawn, "", "GRANTED"} {
		for door, err := range newLiveWorld(t, stage).doors(t) {
			if !errors.Is(err, fault.Forbidden) || fault.Of(err).Code != fault.CodeLiveAccessRequired {
				t.Errorf("%s at stage %q: %v, want svc_live_access_required", door, stage, err)
			}
		}
	}
	for door, err := range newLiveWorld(t, org.LiveGranted).doors(t) {
		if err != nil {
			t.Errorf("%s of a granted organisation: %v", door, err)
		}
	}
}

func TestDirectoryAllowsTestModeAtEveryStage(t *testing.T) {
	t.Parallel()
	for _, stage := range []org.LiveAccess{org.LiveNone, org.LiveRequested, org.LiveWithdrawn, org.LiveGranted} {
		w := newWorld(t)
		w.organisation.LiveAccess = stage
		if err := w.authenticate(t); err != nil {
			t.Errorf("at stage %s: %v", stage, err)
		}
	}
}

// TestAuthenticateChecksKeyBeforeLiveAccess checks that a wrong key returns the same error whether or not the
// organisation has live access.
func TestAuthenticateChecksKeyBeforeLiveAccess(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t, org.LiveNone)
	w.key = secret.New(newKey(t, org.Live))
	_, err := w.directory.Authenticate(t.Context(), "public_live_"+credential, w.key)
	if got := fault.Of(err); got.Kind != fault.Unauthenticated || got.Public != "The credentials are not valid." {
		t.Errorf("a wrong key: %v", err)
	}
}

func TestDirectoryAppliesWithdrawalAfterThirtySeconds(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t, org.LiveGranted)
	if err := w.doors(t)["Authenticate"]; err != nil || w.reads != 1 {
		t.Fatalf("granted: %v after %d reads", err, w.reads)
	}
	w.organisation.LiveAccess = org.LiveWithdrawn
	w.at = start.Add(30*time.Second - 1)
	if err := w.doors(t)["ByPublicID"]; err != nil || w.reads != 1 {
		t.Errorf("within 30 seconds: %v after %d reads", err, w.reads)
	}
	w.at = start.Add(30 * time.Second)
	for door, err := range w.doors(t) {
		if !errors.Is(err, fault.Forbidden) {
			t.Errorf("%s after 30 seconds: %v", door, err)
		}
	}
	if w.reads != 2 {
		t.Errorf("%d reads, want one for each 30 seconds", w.reads)
	}
}
