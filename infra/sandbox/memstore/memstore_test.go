package memstore_test

import (
	"testing"
	"time"

	"recordbridge/infra/sandbox/memstore"
	"recordbridge/infra/sandbox/storetest"
)

func TestStorePassesStoreSuite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, memstore.New(), time.Unix(1, 0))
}
