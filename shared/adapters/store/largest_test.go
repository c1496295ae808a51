package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// long returns a string of n bytes that JSON encodes as 6n bytes.
func long(n int) string { return strings.Repeat("<", n) }

// sealing simulates encryption by padding the plaintext with the overhead that encryption would add.
type sealing struct{}

func (sealing) Seal(_ context.Context, _ org.Tenant, _ string, plain []byte) ([]byte, error) {
	return append(make([]byte, 512), plain...), nil
}

func (sealing) Open(_ context.Context, _ org.Tenant, _ string, sealed []byte) ([]byte, error) {
	return sealed[512:], nil
}

// TestLargestRowsFitDynamoDBItemLimit stores rows that reach every limit in docs/develop/architecture.md at once. The
// embedded DynamoDB enforces the item size limit.
func TestLargestRowsFitDynamoDBItemLimit(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	const address, scope, token = 2 << 10, 12 << 10, 16 << 10
	attempt := attemptOf(tenant)
	attempt.ExternalID, attempt.ExternalState, attempt.RequestID = long(512), long(1024), long(128)
	attempt.Issuer, attempt.AuthorizationEndpoint, attempt.TokenEndpoint = long(address), long(address), long(address)
	attempt.KeySet, attempt.Userinfo, attempt.Scope = long(address), long(address), long(scope)
	attempt.Upstream = flow.Upstream{Revocation: long(address), Introspection: long(address)}
	expect.NoError(t, s.flow.BeginAttempt(t.Context(), attempt, stateOf(tenant)))

	set := tokens.Set{
		AccessToken: secret.New(long(token)), RefreshToken: secret.New(long(token)), PatientID: secret.New(long(64)),
		Scope: long(scope), AskedScope: long(4 << 10), FHIRBase: long(address), TokenEndpoint: long(address),
		ClientID:           long(512),
		RevocationEndpoint: long(address), IntrospectionEndpoint: long(address), Extra: map[string]string{},
	}
	for i := range tokens.MaxExtra {
		set.Extra[fmt.Sprintf("%064d", i)] = long(512)
	}
	row, err := tokens.Vault{Sealer: sealing{}}.Seal(t.Context(), tenant, connID, 1, set)
	expect.NoError(t, err)
	conn := connectionOf(tenant)
	conn.Scope = set.Scope
	granted, err := webhook.NewEvent(tenant, webhook.ConnectionSucceeded, connID, 0, now, webhook.ConnectionSuccess{
		OrgConnectionID: connID, Scope: set.Scope, ExternalID: attempt.ExternalID, ExternalState: attempt.ExternalState,
		RequestID: attempt.RequestID,
	})
	expect.NoError(t, err)
	expect.NoError(t, s.flow.ConcludeAttempt(t.Context(),
		flow.Conclusion{Attempt: attempt, Connection: conn, Tokens: row, Events: []webhook.Event{granted}}))

	task := pendingTask(tenant)
	task.Options = export.Options{Formats: []export.Format{
		export.JSONLines, export.Gzipped, export.OneBundle,
		export.Report,
	}}
	for range 100 {
		task.Options.Types = append(task.Options.Types, long(64))
	}
	expect.NoError(t, s.register.OpenTask(t.Context(), task, ""))
	task, err = s.tasks.ClaimTask(t.Context(), tenant, taskID, now, now)
	expect.NoError(t, err)
	task.Status, task.Scope = export.Success, export.Scope{Asked: long(4 << 10), Granted: set.Scope}
	task.Stats.TotalByResourceType = map[string]int{}
	for i := range 300 { // more than the number of FHIR types
		name := fmt.Sprintf("%s%03d", strings.Repeat("T", 40), i)
		task.Stats.TotalByResourceType[name] = 1 << 62
		task.Outcome = append(task.Outcome, export.TypeOutcome{
			Type: name, Result: export.OutcomeTruncated, Count: 1 << 62, Missing: 1 << 62, LeftOut: 1 << 62,
			OnlyBy: long(64), Status: 599,
		})
	}
	links := make([]webhook.DownloadLink, 4)
	for i := range links {
		task.Files = append(task.Files, export.File{
			Name: long(100), Key: long(200), ContentType: long(100), SHA256: long(64),
			Bytes: 1 << 62,
		})
		links[i] = webhook.DownloadLink{URL: long(1 << 10), ExportType: long(20), ContentType: long(100)}
	}
	task.Manifest = export.Manifest{Key: long(200), Signature: long(300)}
	done, err := webhook.NewEvent(tenant, webhook.ExportSucceeded, taskID, 0, now, webhook.ExportSuccess{
		DownloadLinks: links, DownloadLink: &links[0], OrgConnectionID: connID, TaskID: taskID, Stats: task.Stats,
		Manifest: &webhook.ManifestLink{URL: long(1 << 10), Signature: long(300)},
	})
	expect.NoError(t, err)
	expect.NoError(t, s.tasks.FinishTask(t.Context(), task, done))
}
