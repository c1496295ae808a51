// Package storetest says what a store has to do for its domain, whatever it is made of: one suite for each interface
// that a domain declares. The suites run against DynamoDB (shared/adapters/store) and against each model of a store
// that tests use instead (infra/testkit/memory), so that no model allows what DynamoDB refuses. Only tests link it.
package storetest

import (
	"testing"
	"time"

	"recordbridge/shared/words/org"
)

// What all suites are about. At has as many digits as a row keeps.
const (
	orgA   = "0a000000-0000-4000-8000-00000000000a"
	orgB   = "0b000000-0000-4000-8000-00000000000b"
	connID = "c0000000-0000-4000-8000-000000000001"
)

func tenantA() org.Tenant { return org.Tenant{Mode: org.Test, OrgID: orgA} }

// others are tenants who share a part of their name with tenantA.
func others() []org.Tenant {
	return []org.Tenant{{Mode: org.Live, OrgID: orgA}, {Mode: org.Test, OrgID: orgB}}
}

func now() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC) }

// subject is one case: a store that nobody else uses.
type subject[S any] struct {
	t     *testing.T
	store S
}

// run runs each case on a store of its own.
func run[S any](t *testing.T, open func(testing.TB) S, cases map[string]func(subject[S])) {
	t.Helper()
	for name, check := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(subject[S]{t: t, store: open(t)})
		})
	}
}
