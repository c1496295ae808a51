package store_test

import (
	"testing"

	"recordbridge/infra/sandbox/storetest"
)

func TestTheSandboxHasItsStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, newStores(t).sandbox, now)
}
