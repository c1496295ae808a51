package main

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"recordbridge/infra/local/runfile"
)

// banner says that everything is ready, where it is, and what to do with it.
func banner(out io.Writer, run runfile.Run) error {
	var text strings.Builder
	fmt.Fprintf(&text, "\nReady.\n\n  API      %s\n  console  %s\n  inbox    %s\n  keys     %s\n",
		run.BaseURL, run.ConsoleURL, run.InboxURL, runFile)
	for _, o := range run.Organisations {
		fmt.Fprintf(&text, "\n  %s (%s)\n    public id    %s\n    private key  %s\n", o.Name, o.Mode, o.PublicID, o.PrivateKey)
	}
	if len(run.Organisations) > 0 && len(run.Sandbox.Personas) > 0 {
		mainJob(&text, run, run.Organisations[0])
	}
	_, err := io.WriteString(out, text.String()+"\nCtrl-C ends it.\n")
	return err
}

// mainJob prints the whole job as commands for a shell, in the order in which they work.
func mainJob(text *strings.Builder, run runfile.Run, o runfile.Organisation) {
	connect := run.BaseURL + "/bridge/connect?" + url.Values{
		"public_id": {o.PublicID}, "endpoint_id": {run.Sandbox.EndpointID}, "redirect_uri": {o.RedirectURI},
	}.Encode()
	fmt.Fprintf(text, `
  The main job. Connect in a browser at

    %[1]s

  or without one, then go on with the org_connection_id that comes back:

    portal=$(curl -s -o /dev/null -c jar -w '%%{redirect_url}' '%[1]s')
    curl -sL -b jar -c jar -H 'Accept: application/json' "$portal&persona=%[2]s&decision=approve"
    curl -s -u '%[3]s:%[4]s' --json '{"org_connection_id":"..."}' %[5]s/bridge/fhir/ehi-export
    curl -s %[6]s                      # the webhook: its download_links hold the address of the file
    curl -sL -o records.jsonl '...'    # that address
`, connect, run.Sandbox.Personas[0].ID, o.PublicID, o.PrivateKey, run.BaseURL, run.InboxURL)
}
