package export_test

import (
	"errors"
	"strings"
	"testing"

	"recordbridge/shared/export"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	taskID       = "0123456789abcdef0123456789abcdef"
	connectionID = "c0000000-0000-4000-8000-000000000001"
)

var (
	tenant     = org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"}
	errTrouble = errors.New("trouble on our side")
)

func newLinks(t *testing.T, current string) export.Links {
	t.Helper()
	ring, err := secret.ParseKeyring(secret.New(
		`{"current":"` + current + `","1":"` + strings.Repeat("a", 43) + `","2":"` + strings.Repeat("b", 43) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	return export.Links{Keys: ring, BaseURL: "https://api.example/v1"}
}
