package main

import (
	"flag"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const unknownID = "00000000-0000-4000-8000-000000000000"

// world holds one object of each kind that a command can act on.
type world struct {
	org, publicID, hook, endpoint, client string
	brand, other                          string
}

func newWorld(t *testing.T, outputs string) world {
	t.Helper()
	done := doer(t, outputs)
	text := func(printed map[string]any, name string) string {
		value, _ := printed[name].(string)
		return value
	}
	w := world{
		org:   text(done("organisation", "create", "-name", "Alder", "-email", "ops@app.example"), "id"),
		brand: unknownID, other: unknownID,
	}
	w.publicID = text(done("credential", "create", "-org", w.org, "-mode", "test", "-redirect",
		"https://app.example/return", "-origin",
		"https://app.example"), "public_id")
	w.hook = text(done("webhook", "create", "-org", w.org, "-mode", "test", "-url", "https://app.example/hook", "-type",
		"patient.connection_success"), "id")
	w.client = text(done("client", "create", "-method", "private_key_jwt"), "client_auth_id")
	w.endpoint = text(done("endpoint", "create", "-mode", "test", "-fhir-base", nowhere, "-unpinned", "-platform",
		"epic", "-client-id",
		"ours", "-name", "Maple Hospital",
		"-override", "authorize: {aud: none}"), "endpoint_id")
	return w
}

// right returns valid values for all of a command's flags, so that tests can invalidate one flag at a time.
func (w world) right(command string) map[string]string {
	tenant := map[string]string{"org": w.org, "mode": "test"}
	with := func(base map[string]string, more ...string) map[string]string {
		all := maps.Clone(base)
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	values := map[string]map[string]string{
		"organisation create": {"name": "Birch"},
		"organisation delete": {"org": w.org, "name": "Birch"},
		"preflight":           {"env": "prod"},
		"organisation owner": {
			"org": w.org, "email": "ada@alder.example", "recover": "true", "reason": "seen in person",
		},
		"organisation live": {"org": w.org, "refuse": "true", "reason": "Unclear."},
		"credential revoke": {"public-id": w.publicID, "all": "true"},
		"credential create": with(tenant, "redirect", "https://app.example/return"),
		"webhook create":    with(tenant, "url", "https://app.example/hook"),
		"credential set":    {"public-id": w.publicID, "add-redirect": "https://app.example/another"},
		"webhook list":      tenant,
		"connection index":  tenant,
		"webhook log":       tenant,
		"webhook simulate":  with(tenant, "type", "webhook.test"),
		"webhook replay":    with(tenant, "id", w.hook, "failed-since", "2026-11-21T09:30:00Z"),
		"endpoint create": {
			"mode":      "test",
			"fhir-base": nowhere + "/another", "name": "Birch Hospital", "platform": "epic",
			"client-id": "ours", "unpinned": "true",
		},
		"endpoint list":       {},
		"endpoint set":        {"id": w.endpoint, "name": "Birch Hospital"},
		"platform show":       {"platform": "epic"},
		"client create":       {"method": "private_key_jwt"},
		"client set":          {"id": w.client, "origin": "https://auth.example"},
		"client rotate":       {"id": w.client, "key-id": "one"},
		"registration set":    {"mode": "test", "platform": "epic", "client-id": "ours"},
		"registration show":   {"mode": "test", "platform": "epic", "callback": "true"},
		"registration remove": {"mode": "test", "endpoint": w.endpoint},
		"inquiry status":      with(tenant, "id", unknownID, "status", "closed"),
		"inquiry answer":      with(tenant, "id", unknownID, "text-file", "flags_test.go"),
		"webhook set":         with(tenant, "id", w.hook, "url", "https://app.example/moved"),
	}
	if found, ok := values[command]; ok {
		return found
	}
	if strings.HasPrefix(command, "catalog ") {
		return w.rightOfCatalog(command)
	}
	switch group, _, _ := strings.Cut(command, " "); group {
	case "organisation":
		if command == "organisation list" {
			return map[string]string{}
		}
		return map[string]string{"org": w.org}
	case "credential":
		if command == "credential list" {
			return tenant
		}
		return map[string]string{"public-id": w.publicID}
	case "webhook":
		return with(tenant, "id", w.hook)
	case "connection", "export", "inquiry":
		if strings.HasSuffix(command, " list") {
			return tenant
		}
		return with(tenant, "id", unknownID)
	case "endpoint":
		return map[string]string{"id": w.endpoint}
	case "client":
		return map[string]string{"id": w.client}
	case "restore":
		return with(tenant, "moment", "2026-01-01T00:00:00Z", "table", "ctl-AuditTable")
	}
	return map[string]string{}
}

func (w world) rightOfCatalog(command string) map[string]string {
	brand := map[string]string{"mode": "live", "id": w.brand}
	values := map[string]map[string]string{
		"catalog source set":    {"id": "birch", "mode": "test", "format": "brands"},
		"catalog source list":   {},
		"catalog source remove": {"id": "alder-county"},
		"catalog import":        {"file": "flags_test.go", "format": "yaml", "mode": "test"},
		"catalog hosts":         {"mode": "live", "host": "fhir.birch.example", "allow": "true"},
		"catalog rollback":      {"mode": "live", "version": "20260304T050607Z-0102030405060708"},
		"catalog search":        {"mode": "live"},
		"catalog show":          brand,
		"catalog set":           {"mode": "live", "id": w.brand, "name": "Elder", "merge-into": w.other},
	}
	if found, ok := values[command]; ok {
		return found
	}
	return map[string]string{}
}

// wrong returns a value that is invalid for every flag with the given name.
func wrong(t *testing.T, name string) string {
	t.Helper()
	if value, ok := map[string]string{
		"id": unknownID, "endpoint": unknownID, "client-auth": unknownID, "delivery": unknownID, "name": " ",
		"client-id": "a\tb", "key-id": "a\tb", "note": "a\tb",
		"scope": `"`, "rate": "1001", "limit": "101", "secret-file": t.TempDir(), "text-file": t.TempDir(), "reason": " ",
		"header-file": t.TempDir(), "override": "authorize: {aud: sometimes}",
		"website": "http://app.example", "privacy": "http://app.example", "logo": "http://app.example",
		"fhir-base": "ftp://hospital.example/r4",
		"host":      "fhir.birch.example/r4", "font": "url(x)", "purpose": "<b>", "purpose-es": "<b>",
	}[name]; ok {
		return value
	}
	return "wrong"
}

func TestInvalidValueErrorNamesFlag(t *testing.T) {
	outputs := newStack(t)
	w := newWorld(t, outputs)
	play(t, outputs, []step{
		{line: "catalog import -file " + writeList(t, "Alder Hospital", "Birch Clinic") +
			" -format lantern-ndjson -mode live -id alder-county", prints: "accepted"},
		{line: "catalog publish -yes -mode live", prints: "published:true"},
	})
	w.brand, w.other = brandOf(t, outputs, "Alder Hospital"), brandOf(t, outputs, "Birch Clinic")
	harmless := []string{
		// accept any text
		"catalog source set -id", "catalog import -id", "catalog source set -license", "catalog set -alias",
		"catalog set -remove-alias",
		// these flags accept any text, which may match nothing
		"catalog diff -host", "catalog diff -source", "catalog search -text", "catalog search -state",
		"catalog search -platform", "catalog search -zip",
		// these flags accept any text, which is compared with the discovery document
		"endpoint create -issuer", "endpoint approve -issuer",
		"webhook log -id", "webhook log -delivery", "connection list -external-id", // any text is valid, but nothing matches
		"registration set -client-auth x",
		"ccda -report",               // accepts any file
		"organisation owner -reason", // accepts any text
	}
	for _, c := range commands() {
		flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.declare(flags)
		flags.VisitAll(func(f *flag.Flag) {
			if slices.Contains(harmless, c.name+" -"+f.Name) {
				return
			}
			values := maps.Clone(w.right(c.name))
			values[f.Name] = wrong(t, f.Name)
			if slices.Contains([]string{"endpoint", "fhir-base"}, f.Name) && strings.HasPrefix(c.name, "registration ") {
				delete(values, "platform")
			}
			if f.Name == "platform" {
				delete(values, "endpoint")
			}
			if c.name == "registration show" && f.Name == "endpoint" {
				values[f.Name] = "wrong" // a valid value, because the endpoint may be created later
			}
			args := strings.Fields(c.name)
			for name, value := range values {
				args = append(args, "-"+name+"="+value)
			}
			_, err := ctl(t, outputs, args...)
			message, _, _ := strings.Cut(errorText(err), "\nusage:")
			if !regexp.MustCompile(`(^|[^\w-])-` + f.Name + `($|[^\w-])`).MatchString(message) {
				t.Errorf("%q: %q does not name -%s", args, message, f.Name)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestParseRejectsEmptyFlagValue(t *testing.T) {
	t.Parallel()
	var taken []string
	for _, c := range commands() {
		all := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.declare(all)
		all.VisitAll(func(f *flag.Flag) {
			flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
			c.declare(flags)
			flags.SetOutput(io.Discard)
			err := parse(flags, []string{"-" + f.Name + "="}, false)
			if err == nil {
				taken = append(taken, c.name+" -"+f.Name)
			} else if !strings.Contains(err.Error(), "-"+f.Name) {
				t.Errorf("%s: %v does not name -%s", c.name, err, f.Name)
			}
		})
	}
	want := []string{
		"credential set -note", "webhook set -note",
		"endpoint create -issuer", "endpoint set -override", "endpoint approve -issuer", "client rotate -key-id",
		"registration set -scope", "catalog set -name",
	}
	if !slices.Equal(taken, want) {
		t.Errorf("the empty text is a value of %q, want %q", taken, want)
	}
}

// TestOmittedFlagsPreserveStoredValues runs each command with only the flags that identify the object to change.
func TestOmittedFlagsPreserveStoredValues(t *testing.T) {
	outputs, sent := newRecordedStack(t, "")
	w := newWorld(t, outputs)
	writes := regexp.MustCompile(`\.(PutItem|UpdateItem|DeleteItem|TransactWriteItems) |Action=`)
	before := len(writes.FindAllString(sent.all(), -1))
	tenant := "-org " + w.org + " -mode test "
	for line, want := range map[string]string{
		"organisation set -org " + w.org:                  "-website",
		"credential set -public-id " + w.publicID:         "-add-redirect",
		"webhook set " + tenant + "-id " + w.hook:         "-no-headers",
		"endpoint set -id " + w.endpoint:                  "-name or -override",
		"client rotate -id " + w.client:                   "-key-id: ",
		"client set -id " + w.client:                      "-origin is required",
		"registration set -endpoint " + w.endpoint:        "-client-id",
		"webhook replay " + tenant + "-id " + w.hook:      "-failed-since",
		"endpoint create -fhir-base " + nowhere + "/more": "-name is required",
	} {
		_, err := ctl(t, outputs, strings.Fields(line)...)
		if message, _, _ := strings.Cut(errorText(err), "\nusage:"); !strings.Contains(message, want) ||
			(err == nil) != (want == "") {
			t.Errorf("%s: %q, want %q", line, message, want)
		}
	}
	if after := len(writes.FindAllString(sent.all(), -1)); before == 0 || after != before {
		t.Errorf("%d writes were sent, after %d before", after-before, before)
	}
}
