package console_test

import (
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"testing"
)

// TestConsoleRendersHostileDataAsText loads each part of the page that shows untrusted data in a headless browser, and
// inspects the resulting DOM. TestScriptsNeverParseHTML checks the coding rules that prevent untrusted data from being
// parsed as HTML.
func TestConsoleRendersHostileDataAsText(t *testing.T) {
	t.Parallel()
	chromium, err := exec.LookPath("chromium")
	if err != nil || testing.Short() {
		t.Skip("needs chromium, and seconds")
	}
	f := build(t)
	withTable(t, f)
	put(t, f, row{"pk": text(evil), "sk": text(evil), evil: text(evil)})
	withQueues(t, f)
	withObjects(t, f, map[string]string{"a/" + evil: evil})
	f.timeline.Requested("1-a", evil, nil)
	f.timeline.Wrote("1-a", evil)
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	var page items
	f.get(t, 200, &page, "tables/local-Work/items", "limit", "1")
	for part, query := range map[string]url.Values{
		"invocations": {"id": {"1-a"}}, "tables": {"table": {"local-Work"}, "row": {page.Rows[0].ID}},
		"queues":  {"queue": {"work-dead"}},
		"objects": {"bucket": {"files"}, "prefix": {"a/"}, "key": {"a/" + evil}}, "inbox": nil, "mail": nil,
	} {
		// Browsers run one at a time, because starting a browser is expensive.
		command := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu",
			"--user-data-dir="+t.TempDir(),
			"--virtual-time-budget=3000", "--dump-dom", server.URL+"/_local#/"+part+"?"+query.Encode())
		document, err := command.Output()
		if err != nil {
			t.Fatalf("chromium: %v", err)
		}
		if !strings.Contains(string(document), `&lt;img src=x`) {
			t.Errorf("%s does not show the data", part)
		}
		if strings.Contains(string(document), "<img") || strings.Count(string(document), "<script") != 1 {
			t.Errorf("%s shows the data as HTML", part)
		}
	}
}
