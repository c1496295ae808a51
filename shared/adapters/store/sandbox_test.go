package store_test

import (
	"testing"

	"recordbridge/infra/sandbox/storetest"
)

func TestSandboxPassesStoreSuite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, newStores(t).sandbox, now)
}
