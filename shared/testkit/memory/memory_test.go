package memory_test

import (
	"testing"

	"recordbridge/shared/export"
	"recordbridge/shared/export/collect"
	"recordbridge/shared/org"
	"recordbridge/shared/testkit/memory"
	"recordbridge/shared/testkit/storetest"
)

func TestWebhooksAnswerAsTheStoreDoes(t *testing.T) {
	t.Parallel()
	open := func(testing.TB) storetest.Webhooks { return &memory.Webhooks{} }
	storetest.Deliveries(t, open)
	storetest.Health(t, open)
}

func TestFilesAnswerAsTheBucketDoes(t *testing.T) {
	t.Parallel()
	storetest.Files(t, func(testing.TB) export.Files { return &memory.Files{} })
}

func TestKnownAnswersAsTheStoreDoes(t *testing.T) {
	t.Parallel()
	storetest.Known(t, func(testing.TB) collect.Known { return &memory.Known{} })
}

func TestTasksAnswerAsTheStoreDoes(t *testing.T) {
	t.Parallel()
	open := func(_ testing.TB, of org.Tenant, connectionID string) storetest.Tasks {
		m := &memory.Tasks{}
		m.Authorize(of, connectionID, true)
		return m
	}
	storetest.Registration(t, open)
	storetest.Work(t, open)
	storetest.Shares(t, open)
}

func TestTheHealthOfEndpointsAnswersAsTheStoreDoes(t *testing.T) {
	t.Parallel()
	storetest.EndpointHealths(t, func(testing.TB) storetest.EndpointHealth { return &memory.EndpointHealth{} })
}

func TestTheLedgerAnswersAsTheStoreDoes(t *testing.T) {
	t.Parallel()
	storetest.Ledgers(t, func(testing.TB) storetest.Ledger { return &memory.Ledger{} })
}

func TestSourcesAnswerAsTheStoreDoes(t *testing.T) {
	t.Parallel()
	storetest.SourceRows(t, func(testing.TB) storetest.Sources { return &memory.Sources{} })
}
