// Package storetest tests that stores meet their domains' requirements, regardless of the implementation. The package
// has a test suite for each store interface that a domain declares. The suites run against DynamoDB
// (shared/adapters/store) and against each in-memory store that tests use (infra/testkit/memory). Running the same test
// suites ensures that in-memory stores don't allow operations that DynamoDB rejects. Only tests import this package.
package storetest

import (
	"testing"
	"time"

	"recordbridge/shared/words/org"
)

// IDs shared by all suites.
const (
	orgA   = "0a000000-0000-4000-8000-00000000000a"
	orgB   = "0b000000-0000-4000-8000-00000000000b"
	connID = "c0000000-0000-4000-8000-000000000001"
)

func tenantA() org.Tenant { return org.Tenant{Mode: org.Test, OrgID: orgA} }

// others returns tenants that share an organisation or a mode with tenantA.
func others() []org.Tenant {
	return []org.Tenant{{Mode: org.Live, OrgID: orgA}, {Mode: org.Test, OrgID: orgB}}
}

func now() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC) }

// subject is a test case with its own store.
type subject[S any] struct {
	t     *testing.T
	store S
}

// run runs each case in a parallel subtest with a separate store.
func run[S any](t *testing.T, open func(testing.TB) S, cases map[string]func(subject[S])) {
	t.Helper()
	for name, check := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(subject[S]{t: t, store: open(t)})
		})
	}
}
