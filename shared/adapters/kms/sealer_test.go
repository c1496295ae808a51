package kms_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

var (
	tenant = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	start  = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
)

const bound = "tokens|connection|1"

type vault struct {
	client *awskms.Client
	key    string
	at     time.Time

	mu    sync.Mutex
	calls map[string]int
}

func newVault(t *testing.T) *vault {
	t.Helper()
	v := &vault{at: start, calls: map[string]int{}}
	cloud, err := aws.New(aws.Options{Middleware: []wire.Middleware{v.count}})
	if err != nil {
		t.Fatal(err)
	}
	v.client = awskms.NewFromConfig(cloud.Config("test"))
	created, err := v.client.CreateKey(t.Context(), &awskms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	v.key = *created.KeyMetadata.KeyId
	clear(v.calls)
	return v
}

func (v *vault) count(next wire.Handler) wire.Handler {
	return func(w http.ResponseWriter, r *http.Request, c wire.Call) {
		v.mu.Lock()
		v.calls[c.Operation]++
		v.mu.Unlock()
		next(w, r, c)
	}
}

func (v *vault) sealer(purpose string) *kms.Sealer {
	return kms.New(v.client, kms.TokensKey(v.key), purpose, func() time.Time { return v.at })
}

func seal(t *testing.T, s *kms.Sealer, plain string) []byte {
	t.Helper()
	sealed, err := s.Seal(t.Context(), tenant, bound, []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestOpenDecryptsDataSealedByAnotherFunction(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	for _, plain := range []string{"", "a", `{"access_token":"secret value"}`, string(make([]byte, 1<<16))} {
		sealed := seal(t, v.sealer("tokens"), plain)
		if len(plain) > 1 && bytes.Contains(sealed, []byte(plain)) {
			t.Error("the plain text stands in what is sealed")
		}
		got, err := v.sealer("tokens").Open(t.Context(), tenant, bound, sealed)
		if err != nil || string(got) != plain {
			t.Errorf("opened %d bytes (%v), want %d", len(got), err, len(plain))
		}
	}
	s := v.sealer("tokens")
	if bytes.Equal(seal(t, s, "same"), seal(t, s, "same")) {
		t.Error("sealing twice gives the same bytes")
	}
}

// TestOpenRejectsMismatchedTenantPurposeOrLocation checks both a Sealer that has cached the data key and a Sealer that
// must call KMS.
func TestOpenRejectsMismatchedTenantPurposeOrLocation(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	sealed := seal(t, v.sealer("tokens"), "secret value")
	tests := []struct {
		name    string
		purpose string
		tenant  org.Tenant
		bound   string
	}{
		{"another organisation", "tokens", org.Tenant{Mode: org.Test, OrgID: "0b"}, bound},
		{"the other mode", "tokens", org.Tenant{Mode: org.Live, OrgID: tenant.OrgID}, bound},
		{"no tenant", "tokens", org.Tenant{}, bound},
		{"another purpose", "webhook-secret", tenant, bound},
		{"another row", "tokens", tenant, "tokens|connection|2"},
		{"no row", "tokens", tenant, ""},
	}
	for _, test := range tests {
		for _, warm := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, warm %v", test.name, warm), func(t *testing.T) {
				t.Parallel()
				s := v.sealer(test.purpose)
				if _, err := s.Open(t.Context(), tenant, bound, sealed); warm && err != nil && test.purpose == "tokens" {
					t.Fatalf("warming: %v", err)
				}
				if got, err := s.Open(t.Context(), test.tenant, test.bound, sealed); err == nil {
					t.Errorf("opened %q", got)
				}
			})
		}
	}
}

func TestOpenRejectsDamagedData(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	s := v.sealer("tokens")
	sealed := seal(t, s, "secret value")
	if _, err := s.Open(t.Context(), tenant, bound, sealed); err != nil {
		t.Fatal(err)
	}
	for i := range sealed {
		flipped := bytes.Clone(sealed)
		flipped[i] ^= 1
		if _, err := s.Open(t.Context(), tenant, bound, flipped); err == nil {
			t.Errorf("opened with byte %d of %d flipped", i, len(sealed))
		}
	}
	for n := range sealed {
		if _, err := s.Open(t.Context(), tenant, bound, sealed[:n]); err == nil {
			t.Errorf("opened the first %d of %d bytes", n, len(sealed))
		}
	}
	if _, err := s.Open(t.Context(), tenant, bound, append(bytes.Clone(sealed), 0)); err == nil {
		t.Error("opened with a byte more")
	}
}

func TestSealerReplacesDataKeyAfterFiveMinutes(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	s := v.sealer("tokens")
	check := func(at time.Duration, want int) {
		t.Helper()
		v.at = start.Add(at)
		seal(t, s, "x")
		if got := v.calls["GenerateDataKey"]; got != want {
			t.Errorf("after %v: %d data keys, want %d", at, got, want)
		}
	}
	check(0, 1)
	check(5*time.Minute-time.Nanosecond, 1)
	check(5*time.Minute, 2)
	check(10*time.Minute-time.Nanosecond, 2)
	check(10*time.Minute, 3)
}

func TestSealerReplacesDataKeyAfter1000Uses(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	s := v.sealer("tokens")
	for i := range 2001 {
		seal(t, s, "x")
		if got, want := v.calls["GenerateDataKey"], i/1000+1; got != want {
			t.Fatalf("after %d uses: %d data keys, want %d", i+1, got, want)
		}
	}
}

func TestSealerUsesSeparateDataKeysPerTenant(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	s := v.sealer("tokens")
	for i := range 3 {
		for range 2 {
			if _, err := s.Seal(t.Context(), org.Tenant{Mode: org.Test, OrgID: strconv.Itoa(i)}, bound, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := v.calls["GenerateDataKey"]; got != 3 {
		t.Errorf("%d data keys for 3 tenants", got)
	}
}

func TestSealerCachesUnwrappedKeyForFiveMinutes(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	sealed := seal(t, v.sealer("tokens"), "secret value")
	s := v.sealer("tokens")
	for _, step := range []struct {
		at   time.Duration
		want int
	}{{0, 1}, {5*time.Minute - time.Nanosecond, 1}, {5 * time.Minute, 2}} {
		v.at = start.Add(step.at)
		if _, err := s.Open(t.Context(), tenant, bound, sealed); err != nil {
			t.Fatal(err)
		}
		if got := v.calls["Decrypt"]; got != step.want {
			t.Errorf("after %v: %d calls, want %d", step.at, got, step.want)
		}
	}
}

func TestSealerIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	s := v.sealer("tokens")
	var workers sync.WaitGroup
	for i := range 16 {
		workers.Go(func() {
			// The loop uses enough tenants to evict keys from the caches.
			for n := range 40 {
				of := org.Tenant{Mode: org.Live, OrgID: fmt.Sprint(i*40+n, " organisation")}
				sealed, err := s.Seal(t.Context(), of, bound, []byte("x"))
				if err != nil {
					t.Error(err)
					continue
				}
				if _, err := s.Open(t.Context(), of, bound, sealed); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
}

type broken struct {
	kms.Client

	err error
}

func (b broken) GenerateDataKey(
	context.Context, *awskms.GenerateDataKeyInput, ...func(*awskms.Options),
) (*awskms.GenerateDataKeyOutput, error) {
	return nil, b.err
}

func TestSealerReturnsKMSError(t *testing.T) {
	t.Parallel()
	down := errors.New("no route to KMS")
	s := kms.New(broken{err: down}, kms.TokensKey("key"), "tokens", time.Now)
	if _, err := s.Seal(t.Context(), tenant, bound, nil); !errors.Is(err, down) {
		t.Errorf("error = %v, want the cause", err)
	}
}

func TestSealerErrorNamesKeyWhenKMSFails(t *testing.T) {
	t.Parallel()
	at := fault.Spot{Dependency: "KMS", Operation: "GenerateDataKey", Class: "DisabledException"}
	s := kms.New(broken{err: at.Failed(errors.New("x"))}, kms.TokensKey("key"), "tokens", time.Now)
	_, err := s.Seal(t.Context(), tenant, bound, nil)
	if at.Key = "TokensKey"; fault.SpotOf(err) != at {
		t.Errorf("got %+v, want %+v", fault.SpotOf(err), at)
	}
}
