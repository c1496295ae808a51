package webhook_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
)

// TestHideLinksRemovesEchoedTokens covers a receiver that echoes all or part of the request in its response.
func TestHideLinksRemovesEchoedTokens(t *testing.T) {
	t.Parallel()
	const token = "1.dGhlLXRpY2tldC1vZi10aGUtZmlsZQ.c2lnbmF0dXJlLW9mLXRoZS10aWNrZXQ"
	const manifest = "1.bWFuaWZlc3QgdGlja2V0.bWFuaWZlc3Qgc2lnbmF0dXJl"
	link := webhook.DownloadLink{URL: "https://api.example/v1/x.jsonl?token=" + token}
	event, err := webhook.NewEvent(tenant, webhook.ExportSucceeded, "task", 0, time.Time{}, webhook.ExportSuccess{
		DownloadLinks: []webhook.DownloadLink{{URL: "https://api.example/v1/y.jsonl?token=2.another"}, link},
		DownloadLink:  &link,
		Manifest:      &webhook.ManifestLink{URL: "https://api.example/v1/manifest.json?token=" + manifest},
	})
	expect.NoError(t, err)
	quoted, err := json.Marshal(map[string]string{"you sent": string(event.Body)})
	expect.NoError(t, err)
	for name, c := range map[string]struct{ answer, want string }{
		"nothing of it":    {"thanks, token=1", "thanks, token=1"},
		"the token":        {"got " + token + ", thanks", "got [hidden], thanks"},
		"twice":            {token + " " + token, "[hidden] [hidden]"},
		"cut off":          {"got " + token[:50], "got [hidden]"},
		"the manifest's":   {"got " + manifest + ", thanks", "got [hidden], thanks"},
		"its end":          {token[len(token)-12:] + "!", "[hidden]!"},
		"too short a part": {token[:11], token[:11]},
	} {
		got, failure := event.HideLinks(webhook.Answer{
			Body:   []byte(c.answer),
			Header: map[string]string{"X-Echo": c.answer},
		}, event.Body)
		if failure != nil || string(got.Body) != c.want || got.Header["X-Echo"] != c.want {
			t.Errorf("%s: kept %q and %q (%v), want %q", name, got.Body, got.Header["X-Echo"], failure, c.want)
		}
	}
	got, err := event.HideLinks(webhook.Answer{Body: quoted}, event.Body)
	if kept := string(got.Body); err != nil || strings.Contains(kept, token[20:32]) ||
		strings.Count(kept, "[hidden]") != 3 || !strings.Contains(kept, "y.jsonl?token=2.another") {
		t.Errorf("of the whole body is kept %s (%v)", kept, err)
	}
}
