// Package storetest tests the requirements of a domain on its store, regardless of the implementation, with one suite
// for each interface that a domain declares. The suites run against DynamoDB (shared/adapters/store) and against each
// model of a store that tests use instead (infra/testkit/memory), so that no model allows what DynamoDB refuses. Only
// tests link it.
package storetest

import (
	"testing"
	"time"

	"recordbridge/shared/words/org"
)

// Fixed data of all suites. At has as many digits as a row stores.
const (
	orgA   = "0a000000-0000-4000-8000-00000000000a"
	orgB   = "0b000000-0000-4000-8000-00000000000b"
	connID = "c0000000-0000-4000-8000-000000000001"
)

func tenantA() org.Tenant { return org.Tenant{Mode: org.Test, OrgID: orgA} }

// others returns tenants whose names share a part with tenantA's.
func others() []org.Tenant {
	return []org.Tenant{{Mode: org.Live, OrgID: orgA}, {Mode: org.Test, OrgID: orgB}}
}

func now() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC) }

// subject is one case with a store of its own.
type subject[S any] struct {
	t     *testing.T
	store S
}

// run runs each case on a separate store.
func run[S any](t *testing.T, open func(testing.TB) S, cases map[string]func(subject[S])) {
	t.Helper()
	for name, check := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(subject[S]{t: t, store: open(t)})
		})
	}
}
