package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/words/org"
)

func listOf(t *testing.T, name string, rows ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".ndjson")
	if err := os.WriteFile(path, []byte(strings.Join(rows, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCatalogAllowAndRefuseResolvePendingHosts(t *testing.T) {
	outputs := newStack(t)
	const npi = "1234567893"
	hostile := listOf(t, "hostile",
		`{"name":"Evil Clinic","url":"https://fhir.evil.example/r4","npi":"`+npi+`"}`,
		`{"name":"Own Clinic","url":"https://fhir.own.example/r4"}`)
	vendor := listOf(t, "vendor", `{"name":"Alder Hospital","url":"https://fhir.alder.example/r4","npi":"`+npi+`"}`)
	play(t, outputs, []step{
		{line: "catalog source set -id vendor -mode live -format lantern-ndjson -priority 70"},
		{line: "catalog import -id vendor -file " + vendor, prints: "accepted"},
		{line: "catalog publish -yes -mode live", prints: "published:true"},
		{line: "catalog source set -id hostile -mode live -format lantern-ndjson -platform epic"},
		{line: "catalog import -id hostile -file " + hostile, prints: "accepted"},
		{line: "catalog publish -yes -mode live", prints: "fhir.evil.example"},
		{line: "catalog search -mode live", prints: "total:2"},
		{line: "catalog diff -mode live", prints: "lower_priority:1"},
		{line: "catalog diff -mode live", prints: "brand_hosts:[fhir.alder.example]"},
		{line: "catalog diff -mode live -host fhir.own.example", prints: "platform:1"},
		{line: "catalog diff -mode live -source vendor", prints: "composed:"},
		{line: "catalog diff -mode live -limit 0", refused: "-limit must be from 1 to 100"},
		{line: "catalog report -mode live", prints: "hosts:2"},
		{line: "catalog hosts -allow -mode live", refused: "-host or -source"},
		{line: "catalog hosts -mode live -source hostile -undo", refused: "-undo can be used only with -host"},
		{line: "catalog hosts -allow -mode live -host fhir.elsewhere.example", refused: "Nothing is waiting at this host"},
		{line: "catalog hosts -allow -mode live -host fhir.own.example", prints: "allowed:[fhir.own.example]"},
		{line: "catalog publish -yes -mode live", prints: "published:true"},
		{line: "catalog search -mode live -platform epic", prints: "Own Clinic"},
		{line: "catalog hosts -allow -mode live -source hostile", prints: "allowed:[fhir.evil.example]"},
		{line: "catalog publish -yes -mode live", prints: "published:true"},
		{line: "catalog search -mode live -text alder", prints: "hosts:[fhir.evil.example]"},
		{line: "catalog hosts -refuse -mode live -host https://fhir.evil.example/r4", refused: "without a path"},
		{line: "catalog hosts -refuse -mode live -host fhir.evil.example", prints: "refused:[fhir.evil.example]"},
		{line: "catalog hosts -refuse -mode live -host fhir.evil.example", refused: "This decision already exists"},
		{line: "catalog publish -yes -mode live", prints: "published:true"},
		{line: "catalog hosts -mode live -host fhir.evil.example -undo", prints: "forgotten:fhir.evil.example"},
		{line: "catalog hosts -mode live -host fhir.evil.example -undo", refused: "This host has no operator decision"},
		{line: "catalog diff -mode live", prints: "fhir.evil.example"},
		{line: "catalog hosts -refuse -mode live -source hostile", prints: "refused:[fhir.evil.example]"},
		{line: "catalog hosts -mode live -host fhir.own.example -allow-every-brand", prints: "every_brand:fhir.own.example"},
	})
	if alder := brandOf(t, outputs, "Alder Hospital"); alder == "" {
		t.Error("the hospital is gone")
	}
	audited := openStored(t, outputs).audited(t, org.Tenant{})
	for _, action := range []string{
		"catalog.hosts_allowed live fhir.own.example", "catalog.hosts_allowed live hostile",
		"catalog.hosts_refused live fhir.evil.example",
		"catalog.host_forgotten live fhir.evil.example", "catalog.host_allowed live fhir.own.example",
	} {
		if !slices.ContainsFunc(audited, func(row string) bool { return strings.HasPrefix(row, action) }) {
			t.Errorf("no audit row %s in %q", action, audited)
		}
	}
}
