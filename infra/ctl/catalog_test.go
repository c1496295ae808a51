package main

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/words/org"
)

// writeList writes a gzipped list of invented hospitals in Lantern's format.
func writeList(t *testing.T, names ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "Alder_County.ndjson.gz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	packed := gzip.NewWriter(file)
	for i, name := range names {
		fmt.Fprintf(packed, `{"list":"alder","name":%q,"url":"https://fhir%d.alder.example/r4","npi":"","zip":"5001%d"}`+
			"\n", name, i, i)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// imported imports a list of institutions into live mode and returns the command's output.
func imported(t *testing.T, outputs string, names ...string) map[string]any {
	t.Helper()
	return mustPrint(t, outputs, "catalog import -format lantern-ndjson -mode live -file "+writeList(t, names...))
}

func brandOf(t *testing.T, outputs, name string) string {
	t.Helper()
	printed, err := ctl(t, outputs, "catalog", "search", "-mode", "live", "-text", name)
	hits, _ := printed["hits"].([]any)
	if err != nil || len(hits) == 0 {
		t.Fatalf("search for %s: %v (%v)", name, printed, err)
	}
	hit, _ := hits[0].(map[string]any)
	brand, _ := hit["brand"].(map[string]any)
	if brand["name"] != name {
		t.Fatalf("%s finds %v", name, brand["name"])
	}
	id, _ := brand["id"].(string)
	return id
}

func TestCatalogCommandsImportPublishAndOverrideRecords(t *testing.T) {
	outputs := newStack(t)
	all := []string{"Alder Hospital", "Birch Clinic", "Cedar Medical Center"}
	if printed := imported(t, outputs, all...); printed["id"] != "alder-county" || printed["outcome"] != "accepted" {
		t.Fatalf("imported %v", printed)
	}
	play(t, outputs, []step{
		{line: "catalog search -mode live -text alder", refused: "Nothing has been published in live mode yet"},
		{line: "catalog diff -mode live", prints: "added:3"},
		{line: "catalog publish -yes -mode live", prints: "published:true"},
		{line: "catalog publish -yes -mode live", prints: "published:false"},
		{
			line:   "catalog source set -known epic-brands -every 720h -id epic",
			prints: "url:https://open.epic.com/Endpoints/Brands",
		},
		{line: "catalog source list -id epic", prints: "every:720h0m0s"},
		{line: "catalog source set -known epic-brands -mode test", prints: "mode:test"},
		{line: "catalog source set -known epik", refused: "known lists: epic-brands, "},
		{line: "catalog source set -mode live", refused: "either -id or -known"},
		{line: "catalog search -mode test", refused: "Nothing has been published in test mode yet"},
		{line: "catalog search -mode live -state IA -text clinic", prints: "Birch Clinic"},
		{line: "catalog import -id alder-county", refused: "The source has no URL"},
		{line: "catalog import -id elsewhere", refused: `Source "elsewhere" not found`},
		{line: "catalog approve -mode live", refused: "This mode has nothing waiting"},
		{line: "catalog approve -id alder-county", refused: "No snapshot of this source is waiting"},
		{line: "catalog approve", refused: "either -id or -mode"},
	})
	first, _ := mustPrint(t, outputs, "catalog report -mode live")["live"].(string)
	alder, birch, cedar := brandOf(t, outputs, all[0]), brandOf(t, outputs, all[1]), brandOf(t, outputs, all[2])
	play(t, outputs, []step{
		{line: "catalog set -hide -mode live -id " + birch, prints: "catalog publish"},
		{line: "catalog set -hide -mode live -id " + birch, refused: "This decision already exists"},
		{line: "catalog set -hide -mode test -id " + birch, refused: "Nothing has been published in test mode yet"},
		{line: "catalog set -mode live -id " + cedar + " -merge-into " + cedar, refused: "merged into itself"},
		{line: "catalog set -mode live -id " + cedar + " -merge-into " + alder},
		{line: "catalog set -mode live -id " + alder + " -alias Ylderwood"},
		{line: "catalog set -mode live -id no-uuid -alias X", refused: "A record's ID must be a UUID"},
		{line: "catalog publish -yes -mode live", prints: "published:true"},
		{line: "catalog search -mode live", prints: "total:1"},
		{line: "catalog search -mode live -text ylderwood", prints: alder},
		{line: "catalog show -mode live -id " + cedar, prints: "brand:map[aliases:"},
		{line: "catalog show -mode live -id " + birch, prints: "hidden:true"},
		{line: "catalog set -unhide -mode live -id " + birch},
		{line: "catalog set -mode live -id " + cedar + " -unmerge"},
		{line: "catalog set -mode live -id " + birch + " -name Beech"},
		{line: "catalog publish -yes -mode live", prints: "published:true"},
		{line: "catalog search -mode live -text beech", prints: birch},
		{line: "catalog rollback -yes -mode live -version x", refused: "Unknown version"},
		{line: "catalog rollback -yes -mode live -version " + first, prints: first},
		{line: "catalog search -mode live", prints: "total:3"},
		{line: "catalog publish -yes -mode live", prints: "paused:a rollback"},
		{line: "catalog publish -yes -mode live -resume", prints: "published:true"},
		{line: "catalog publish -yes -mode live -resume", refused: "Publishing is not paused"},
		{line: "catalog report -mode live", prints: "Ylderwood"},
		{line: "catalog source remove -yes -id alder-county", prints: "removed:true"},
		{line: "catalog source list -id alder-county", refused: "not found"},
	})
	audited := openStored(t, outputs).audited(t, org.Tenant{})
	for _, action := range []string{
		"catalog.source_set alder-county", "catalog.imported alder-county accepted", "catalog.published live",
		"catalog.hidden live " + birch,
		"catalog.unhidden live " + birch, "catalog.merged live " + cedar, "catalog.unmerged live " + cedar,
		"catalog.alias_added live " + alder,
		"catalog.renamed live " + birch, "catalog.rolled_back live " + first, "catalog.resumed live",
		"catalog.source_removed alder-county",
	} {
		if !slices.ContainsFunc(audited, func(row string) bool { return strings.HasPrefix(row, action) }) {
			t.Errorf("no audit row %s in %q", action, audited)
		}
	}
}

// mustPrint runs a command that must succeed and returns its output.
func mustPrint(t *testing.T, outputs, line string) map[string]any {
	t.Helper()
	printed, err := ctl(t, outputs, strings.Fields(line)...)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return printed
}

// TestCatalogImportHoldsLargeRemovalForConfirmation checks that operators must give separate confirmations for a
// shrinking source list and for a mode that loses many institutions.
func TestCatalogImportHoldsLargeRemovalForConfirmation(t *testing.T) {
	outputs := newStack(t)
	names := make([]string, 0, 40)
	for i := range 40 {
		names = append(names, fmt.Sprintf("Hospital %c%c", 'A'+i/10, 'K'+i%10))
	}
	imported(t, outputs, names...)
	play(t, outputs, []step{{line: "catalog publish -yes -mode live", prints: "published:true"}})
	if printed := imported(t, outputs, names[:20]...); printed["outcome"] != "waiting" {
		t.Fatalf("half of the list: %v", printed)
	}
	play(t, outputs, []step{
		{line: "catalog publish -yes -mode live", prints: "unconfirmed:40"},
		{line: "catalog approve -id alder-county", prints: "catalog publish -mode live"},
		{line: "catalog publish -yes -mode live", prints: "20 of 40 brands would go"},
		{line: "catalog search -mode live", prints: "total:40"},
		{line: "catalog report -mode live", prints: "approved:false"},
		{line: "catalog approve -mode live", prints: "20 of 40 brands would go"},
		{line: "catalog publish -yes -mode live", prints: "published:true"},
		{line: "catalog search -mode live", prints: "total:20"},
	})
}

func TestCatalogImportsShippedVendorList(t *testing.T) {
	play(t, newStack(t), []step{
		{line: "catalog import -file ../catalog/vendors.yaml -format yaml -mode test", prints: "outcome:accepted"},
		{line: "catalog publish -yes -mode test", prints: "published:true"},
		{line: "catalog search -mode test -text epic", prints: "Epic sandbox"},
	})
}
