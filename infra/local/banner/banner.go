// Package banner prints a message when a local stack is ready. It contains the stack's URLs and keys, and the main
// workflow as shell commands. The package needs only the stack's run file, however the stack was created.
package banner

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"recordbridge/infra/local/filehost"
	"recordbridge/infra/local/runfile"
)

// Print reports that the stack is ready, and prints its URLs and the next steps. filesAt is the files' URL, or empty if
// files have their own host name.
func Print(out io.Writer, runFile string, run runfile.Run, filesAt string) error {
	var text strings.Builder
	text.WriteString("\nReady.\n\n")
	if len(run.Organisations) > 0 {
		fmt.Fprintf(&text, "  try it     %s/demo?public_id=%s\n", run.BaseURL, run.Organisations[0].PublicID)
	}
	fmt.Fprintf(&text, "  dashboard  %s\n", run.DashboardURL)
	if run.Owner != "" {
		fmt.Fprintf(&text, "             sign in as %s; the code arrives in the console's mailbox\n", run.Owner)
	}
	fmt.Fprintf(&text, "  docs       %s/docs\n", run.BaseURL)
	fmt.Fprintf(&text, "  stack      %s\n", run.Stack)
	if run.Release != "" {
		fmt.Fprintf(&text, "  release    %s\n", run.Release)
	}
	fmt.Fprintf(&text, "  API        %s\n", run.BaseURL)
	if run.ConsoleURL != "" {
		fmt.Fprintf(&text, "  console    %s\n", run.ConsoleURL)
	}
	fmt.Fprintf(&text, "  inbox      %s\n  keys       %s\n", run.InboxURL, runFile)
	if filesAt != "" {
		fmt.Fprintf(&text, "  files      %s (this machine can't resolve %s, so browsers also send the API's cookies "+
			"there, and Go programs send a key)\n", filesAt, filehost.Name)
	}
	for _, o := range run.Organisations {
		fmt.Fprintf(&text, "\n  %s (%s)\n    public id    %s\n    private key  %s\n", o.Name, o.Mode, o.PublicID,
			o.PrivateKey)
	}
	for _, o := range withoutLive(run.Organisations) {
		fmt.Fprintf(&text, "\n  %s does not have live mode. An operator can grant live mode:\n    go run ./infra/ctl "+
			"organisation live -approve -org %s\n", o.Name, o.ID)
	}
	if len(run.Organisations) > 0 && len(run.Sandbox.Personas) > 0 {
		mainJob(&text, run, run.Organisations[0])
	}
	_, err := io.WriteString(out, text.String()+"\nPress Ctrl-C to stop.\n")
	return err
}

// withoutLive returns the organisations that have only test-mode credentials.
func withoutLive(all []runfile.Organisation) []runfile.Organisation {
	return slices.DeleteFunc(slices.Clone(all), func(o runfile.Organisation) bool {
		return slices.ContainsFunc(all, func(other runfile.Organisation) bool {
			return other.ID == o.ID &&
				other.Mode == "live"
		})
	})
}

// mainJob prints how to run the main workflow in a browser or in a shell.
func mainJob(text *strings.Builder, run runfile.Run, o runfile.Organisation) {
	connect := run.BaseURL + "/bridge/connect?" + url.Values{
		"public_id": {o.PublicID}, "endpoint_id": {run.Sandbox.EndpointID}, "redirect_uri": {o.RedirectURI},
	}.Encode()
	fmt.Fprintf(text, `
  To run the main workflow in a browser, connect at

    %[1]s

  or run the whole workflow in a shell:

    portal=$(curl -s -o /dev/null -c jar -w '%%{redirect_url}' '%[1]s')
    connection=$(curl -sL -b jar -c jar -H 'Accept: application/json' `+
		`"$portal&persona=%[2]s&decision=approve" | grep -o '"org_connection_id":"[^"]*"' | cut -d'"' -f4)
    curl -s -u '%[3]s:%[4]s' -H 'Content-Type: application/json' `+
		`-d "{\"org_connection_id\":\"$connection\"}" %[5]s/bridge/fhir/ehi-export
    sleep 2; curl -s %[6]s                       # the received webhooks
    link=$(curl -s %[6]s | grep -o 'http[^"\\]*/download/[^"\\]*' | tail -1)
    curl -sL -o records.jsonl "$link"; wc -l records.jsonl; cut -c1-120 records.jsonl | head -3
`, connect, run.Sandbox.Personas[0].ID, o.PublicID, o.PrivateKey, run.BaseURL, o.WebhookURL)
}
