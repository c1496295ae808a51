package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestFaultsCanBeEnabledAndDisabled(t *testing.T) {
	t.Parallel()
	f := build(t)
	withTable(t, f)
	for _, test := range []struct {
		body   string
		status int
		want   string
	}{
		{
			`{"faults":[{"name":"local-Work","kind":"throttled"}]}`, 200,
			`{"faults":[{"name":"local-Work","kind":"throttled"}]}`,
		},
		{
			`{"faults":[{"name":"local-Other","kind":"throttled"}]}`, 400,
			`{"error":"There is no table or queue named local-Other."}`,
		},
		{`{"faults":[{"kind":"slow"}]}`, 400, `{"error":"unknown kind of fault \"slow\""}`},
		{`{"faults":[{"table":"local-Work","kind":"throttled"}]}`, 400, `{"error":"json: unknown field \"table\""}`},
		{"", 200, `{"faults":[{"name":"local-Work","kind":"throttled"}]}`}, // the rejected request changed nothing
		{`{"faults":[]}`, 200, `{"faults":[]}`},
	} {
		method := http.MethodPost
		if test.body == "" {
			method = http.MethodGet
		}
		request := httptest.NewRequest(method, "http://127.0.0.1:4566/_local/api/faults", strings.NewReader(test.body))
		answer := httptest.NewRecorder()
		f.ServeHTTP(answer, request)
		if got := strings.TrimSpace(answer.Body.String()); answer.Code != test.status || got != test.want {
			t.Errorf("%s %s: got %d %s, want %d %s", method, test.body, answer.Code, got, test.status, test.want)
		}
	}
}

func TestDamageCorruptsSelectedAttribute(t *testing.T) {
	t.Parallel()
	f := build(t)
	withTable(t, f)
	var page items
	f.get(t, 200, &page, "tables/local-Work/items", "limit", "1")
	id := page.Rows[0].ID
	for attribute, want := range map[string]int{"note": 200, "none": 404, "pk": 404, "due": 404} {
		query := url.Values{"id": {id}, "attribute": {attribute}}
		got := f.serve(t, "POST", "/_local/api/tables/local-Work/damage?"+query.Encode(), nil)
		if got.Code != want {
			t.Errorf("%s: got %d %s, want %d", attribute, got.Code, got.Body, want)
		}
	}
	var shown struct {
		Item map[string]any `json:"item"`
		Keys []string       `json:"keys"`
	}
	f.get(t, 200, &shown, "tables/local-Work/item", "id", id)
	if shown.Item["note"] != "damaged" || shown.Item["sk"] != "row#0" || shown.Item["due"] != 100.0 {
		t.Errorf("got %v, want only the note damaged", shown.Item)
	}
	if got := f.serve(t, "POST", "/_local/api/tables/nothing/damage", nil); got.Code != 404 {
		t.Errorf("got %d for a table that is not there, want 404", got.Code)
	}
}
