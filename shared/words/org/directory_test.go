package org_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

var (
	tenant = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	start  = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
)

type records struct {
	mu           sync.Mutex
	credential   org.Credential
	organisation org.Organisation
	failure      error
	reads        int
	uses         []string
	blocked      chan struct{}
}

func (r *records) TenantOf(_ context.Context, id string) (org.Tenant, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	if r.failure != nil {
		return org.Tenant{}, r.failure
	}
	if id != r.credential.ID {
		return org.Tenant{}, fault.Missing("none")
	}
	return r.credential.Tenant, nil
}

func (r *records) Credential(_ context.Context, of org.Tenant, id string) (org.Credential, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if of != r.credential.Tenant || id != r.credential.ID {
		return org.Credential{}, fault.Missing("none")
	}
	return r.credential, nil
}

func (r *records) Organisation(_ context.Context, of org.Tenant) (org.Organisation, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if of.OrgID != r.organisation.ID {
		return org.Organisation{}, fault.Missing("none")
	}
	return r.organisation, nil
}

func (r *records) UseKey(_ context.Context, of org.Tenant, keyID string, hour time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blocked != nil {
		r.mu.Unlock()
		<-r.blocked
		r.mu.Lock()
	}
	r.uses = append(r.uses, of.Key()+" "+keyID+" "+hour.Format(time.RFC3339))
	return r.failure
}

// world holds a directory and a credential with one valid key.
type world struct {
	*records

	directory *org.Authenticator
	ring      secret.Keyring
	key       secret.Text
	at        time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{at: start}
	var err error
	w.ring, err = secret.ParseKeyring(secret.New(`{"current":"2","1":"` + strings.Repeat("1", 32) + `","2":"` +
		strings.Repeat("2", 32) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	w.key = secret.New(newKey(t, org.Test))
	w.records = &records{
		credential: org.Credential{
			ID: credential, Tenant: tenant, Keys: []org.Key{w.keyOf(w.key)},
			RedirectURIs: []string{"https://a.example"}, AllowedOrigins: []string{"https://a.example"},
		},
		organisation: org.Organisation{
			ID: tenant.OrgID, Name: "Alder Maple Clinic", LogoURI: "https://cdn.example/a.png", Accent: "#0a7d33",
			Status: org.Active,
		},
	}
	w.directory = org.NewAuthenticator(w.records, w.ring, func() time.Time { return w.at })
	return w
}

func (w *world) keyOf(text secret.Text) org.Key {
	mark := w.ring.Sign([]byte(text.Reveal()))
	return org.Key{ID: "key", HashVersion: mark.Version, Hash: mark.Sum}
}

func (w *world) authenticate(t *testing.T) error {
	t.Helper()
	_, err := w.directory.Authenticate(t.Context(), "public_test_"+credential, w.key)
	return err
}

func TestAuthenticateAcceptsPublicIDAndKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := org.Caller{
		Tenant: tenant, CredentialID: credential, RedirectURIs: []string{"https://a.example"},
		AllowedOrigins: []string{"https://a.example"},
	}
	for _, publicID := range []string{"public_test_" + credential, credential, strings.ToUpper(credential)} {
		got, err := w.directory.Authenticate(t.Context(), publicID, w.key)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("Authenticate(%s): %v (-want +got):\n%s", publicID, err, diff)
		}
		got, err = w.directory.ByPublicID(t.Context(), publicID)
		want := want
		want.Brand = org.Brand{Name: "Alder Maple Clinic", LogoURI: "https://cdn.example/a.png", Accent: "#0a7d33"}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("ByPublicID(%s): %v (-want +got):\n%s", publicID, err, diff)
		}
	}
	organisation, err := w.directory.Organisation(t.Context(), credential)
	if err != nil || organisation.Name != "Alder Maple Clinic" {
		t.Errorf("organisation = %+v (%v)", organisation, err)
	}
}

// TestAuthenticateReturnsSameErrorForEveryInvalidCredential checks that the error does not reveal which part of the
// credential is wrong.
func TestAuthenticateReturnsSameErrorForEveryInvalidCredential(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		change   func(t *testing.T, w *world)
		byID     bool // whether lookups by public ID alone fail as well
		publicID string
	}{
		{name: "a revoked key", change: func(_ *testing.T, w *world) { w.credential.Keys[0].RevokedAt = start }},
		{name: "no key", change: func(_ *testing.T, w *world) { w.credential.Keys = nil }},
		{name: "another key", change: func(t *testing.T, w *world) { t.Helper(); w.key = secret.New(newKey(t, org.Test)) }},
		{name: "a damaged key", change: func(_ *testing.T, w *world) { w.key = secret.New(w.key.Reveal()[1:]) }},
		{name: "an empty key", change: func(_ *testing.T, w *world) { w.key = secret.Text{} }},
		{name: "the public id as key", change: func(_ *testing.T,
			w *world,
		) {
			w.key = secret.New("public_test_" + credential)
		}},
		{name: "a live key that the test credential lists", change: func(t *testing.T, w *world) {
			t.Helper()
			w.key = secret.New(newKey(t, org.Live))
			w.credential.Keys = []org.Key{w.keyOf(w.key)}
		}},
		{name: "a hash without a version", change: func(_ *testing.T, w *world) { w.credential.Keys[0].HashVersion = 0 }},
		{name: "an empty hash", change: func(_ *testing.T, w *world) { w.credential.Keys[0].Hash = nil }},
		{name: "a revoked credential", byID: true, change: func(_ *testing.T, w *world) { w.credential.RevokedAt = start }},
		{
			name: "an inactive organisation", byID: true,
			change: func(_ *testing.T, w *world) { w.organisation.Status = org.Inactive },
		},
		{
			name: "an organisation of unknown status", byID: true,
			change: func(_ *testing.T, w *world) { w.organisation.Status = "" },
		},
		{name: "an organisation that is gone", byID: true, change: func(_ *testing.T, w *world) { w.organisation.ID = "0b" }},
		{name: "an unknown public id", byID: true, change: func(_ *testing.T, w *world) { w.credential.ID = "other" }},
		{name: "the other mode's public id", byID: true, publicID: "public_live_" + credential},
		{name: "a malformed public id", byID: true, publicID: "public_test_x"},
		{name: "no public id", byID: true, publicID: "-"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if test.change != nil {
				test.change(t, w)
			}
			publicID := strings.TrimPrefix(test.publicID, "-")
			if test.publicID == "" {
				publicID = "public_test_" + credential
			}
			caller, err := w.directory.Authenticate(t.Context(), publicID, w.key)
			if !errors.Is(err, fault.Unauthenticated) || fault.Of(err).Public != "The credentials are not valid." {
				t.Errorf("Authenticate = %v, want the one refusal", err)
			}
			if caller.Tenant != (org.Tenant{}) || caller.CredentialID != "" {
				t.Errorf("caller = %+v with a refusal", caller)
			}
			if _, err := w.directory.ByPublicID(t.Context(), publicID); errors.Is(err, fault.Unauthenticated) != test.byID {
				t.Errorf("ByPublicID = %v, want a refusal: %v", err, test.byID)
			}
			if organisation, err := w.directory.Organisation(t.Context(), publicID); test.byID &&
				(err == nil || organisation.Name != "") {
				t.Errorf("Organisation = %+v, %v", organisation, err)
			}
		})
	}
}

func TestAuthenticateAcceptsEitherKeyDuringRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fresh := secret.New(newKey(t, org.Test))
	w.credential.Keys = append(w.credential.Keys, w.keyOf(fresh))
	for _, key := range []secret.Text{w.key, fresh} {
		if _, err := w.directory.Authenticate(t.Context(), credential, key); err != nil {
			t.Errorf("one of two keys: %v", err)
		}
	}
}

func TestAuthenticateRejectsRevokedKeyAfterThirtySeconds(t *testing.T) {
	t.Parallel()
	changes := map[string]func(w *world){
		"key": func(w *world) {
			w.credential.Keys = []org.Key{{ID: "key", HashVersion: 2, Hash: w.credential.Keys[0].Hash, RevokedAt: start}}
		},
		"credential":   func(w *world) { w.credential.RevokedAt = start },
		"organisation": func(w *world) { w.organisation.Status = org.Inactive },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if err := w.authenticate(t); err != nil {
				t.Fatal(err)
			}
			change(w)
			w.at = start.Add(30*time.Second - 1)
			if err := w.authenticate(t); err != nil || w.reads != 1 {
				t.Errorf("within 30 seconds: %v after %d reads, want it to work from memory", err, w.reads)
			}
			w.at = start.Add(30 * time.Second)
			if err := w.authenticate(t); !errors.Is(err, fault.Unauthenticated) {
				t.Errorf("after 30 seconds: %v, want a refusal", err)
			}
		})
	}
}

func TestDirectoryDoesNotCacheUnknownID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.credential.ID = "other"
	if err := w.authenticate(t); !errors.Is(err, fault.Unauthenticated) {
		t.Fatalf("error = %v", err)
	}
	w.credential.ID = credential
	if err := w.authenticate(t); err != nil {
		t.Errorf("a credential that exists by now: %v", err)
	}
}

func TestDirectoryReturnsStoreError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.failure = errors.New("no route to the database")
	if err := w.authenticate(t); !errors.Is(err, w.failure) || errors.Is(err, fault.Unauthenticated) {
		t.Errorf("error = %v, want the store's", err)
	}
	w.key = secret.New("private_test_typo")
	if err := w.authenticate(t); !errors.Is(err, fault.Unauthenticated) {
		t.Errorf("error = %v, want a refusal", err)
	}
}

// many is a Store with a row for every ID, so that lookups overflow the directory's cache.
type many struct{ *records }

func (m many) TenantOf(context.Context, string) (org.Tenant, error) { return tenant, nil }

func (m many) Credential(_ context.Context, of org.Tenant, id string) (org.Credential, error) {
	return org.Credential{ID: id, Tenant: of}, nil
}

func TestDirectoryIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	directory := org.NewDirectory(many{records: w.records}, func() time.Time { return start })
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			for n := range 300 {
				id := fmt.Sprintf("5c000000-0000-4000-8000-0000%04d%04d", i, n)
				caller, err := directory.ByPublicID(t.Context(), id)
				if err != nil || caller.CredentialID != id {
					t.Errorf("ByPublicID(%s) = %+v, %v", id, caller, err)
				}
			}
		})
	}
	callers.Wait()
}

func TestParseModeRejectsUnknownModes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"test": true, "live": true, "": false, "TEST": false, "prod": false,
		"test#": false,
	} {
		if _, ok := org.ParseMode(text); ok != want {
			t.Errorf("ParseMode(%q) = %v, want %v", text, ok, want)
		}
	}
	if got := tenant.Key(); got != "test#0a000000-0000-4000-8000-00000000000a" {
		t.Errorf("Key = %q", got)
	}
}

// TestAuthenticateRecordsKeyUseHourly checks that a key's use is recorded in the background, at most once an hour. A
// failed write must not delay or fail requests.
func TestAuthenticateRecordsKeyUseHourly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		authenticate := func() {
			t.Helper()
			if err := w.authenticate(t); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		for range 3 {
			authenticate()
		}
		w.at = start.Add(time.Hour)
		w.directory.Organisation(t.Context(), credential) //nolint:errcheck // the public id alone is no use of a key
		w.blocked = make(chan struct{})
		authenticate()
		close(w.blocked)
		synctest.Wait()
		want := []string{tenant.Key() + " key 2026-03-04T05:00:00Z", tenant.Key() + " key 2026-03-04T06:00:00Z"}
		if !slices.Equal(w.uses, want) {
			t.Errorf("noted %q, want %q", w.uses, want)
		}
	})
}

func TestAuthenticateDoesNotRecordWrongKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.key = secret.New(newKey(t, org.Test))
		if err := w.authenticate(t); !errors.Is(err, fault.Unauthenticated) {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(w.uses) != 0 {
			t.Errorf("noted %q", w.uses)
		}
	})
}
