package exporttest_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export"
)

// syntheaDir is a folder outside the repository that contains public synthetic bundles.
const syntheaDir = "../../../../shared/data/synthea"

// checkWhole checks that an export succeeded and that its file contains the complete record.
func checkWhole(t *testing.T, r result) comparison {
	t.Helper()
	v := checkHonest(t, r)
	report(t, "missing", v.missing)
	return v
}

// checkHonest checks that an export succeeded, that its file contains only expected resources, and that the outcome
// reports every missing resource.
func checkHonest(t *testing.T, r result) comparison {
	t.Helper()
	checkConduct(t, r)
	if r.task.Status != export.Success {
		t.Fatalf("status %s, reason %s, %d runs", r.task.Status, r.task.FailureReason, r.runs)
	}
	if len(r.events) != 1 || r.events[0].Type != "patient.ehi_export_success" {
		t.Errorf("%d events: %v", len(r.events), r.events)
	}
	v := truthOf(t, r.scenario).compare(t, r)
	report(t, "wrong", v.wrong)
	report(t, "missing and not named", v.silent)
	if len(v.missing) > 0 || t.Failed() {
		t.Logf("outcome: %+v", r.task.Outcome)
	}
	return v
}

// checkConduct checks the rules that apply to every export, whether it succeeded or failed.
func checkConduct(t *testing.T, r result) {
	t.Helper()
	if len(r.foreign) > 0 {
		t.Errorf("other servers were asked for %v", r.foreign)
	}
	if r.most > 8 {
		t.Errorf("%d requests at once", r.most)
	}
	known := map[string]bool{}
	for _, key := range r.task.Objects() {
		known[key] = true
	}
	for _, key := range r.keys {
		if !known[key] {
			t.Errorf("the object %s is left, and the task does not know it", key)
		}
	}
	if r.scenario.lives == nil && r.task.Status == export.Success && len(r.keys) != 2 { // the file and its manifest
		t.Errorf("objects are left: %v", r.keys)
	}
}

func report(t *testing.T, what string, names []string) {
	t.Helper()
	if len(names) > 0 {
		t.Errorf("%s: %d, such as %v", what, len(names), names[:min(len(names), 8)])
	}
}

func TestPersonaExportsAreComplete(t *testing.T) {
	t.Parallel()
	all, err := people()
	expect.NoError(t, err)
	for _, person := range all {
		t.Run(person.ID, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := scenario{person: person, label: "whole-" + person.ID}.run(t)
				checkWhole(t, r)
				if r.runs != 1 || r.took > 0 {
					t.Errorf("%d runs, %v", r.runs, r.took)
				}
				checkCalm(t, r)
			})
		})
	}
}

// checkCalm checks that the export reports no missing data.
func checkCalm(t *testing.T, r result) {
	t.Helper()
	for _, o := range r.task.Outcome {
		isOffered := o.Reason != export.LossUnsupported
		if isOffered && o.Result != export.OutcomeOK && o.Result != export.OutcomeEmpty || o.Missing > 0 {
			t.Errorf("outcome %+v", o)
		}
	}
	if missing := r.shortfall(t); len(missing) > 0 {
		t.Errorf("the event says that %v is missing", missing)
	}
}

// syntheaFolder returns a folder with the bundles to export. A soak test includes all bundles; other test runs include
// only the smaller ones.
func syntheaFolder(t *testing.T) string {
	t.Helper()
	const small = 60 << 10
	found, err := filepath.Glob(filepath.Join(syntheaDir, "*.json.gz"))
	expect.NoError(t, err)
	if len(found) == 0 {
		t.Skip("no bundles in " + syntheaDir + ": the public test data is not beside the project")
	}
	folder := t.TempDir()
	for _, file := range found {
		about, err := os.Stat(file)
		expect.NoError(t, err)
		if about.Size() > small && !soaking() {
			continue
		}
		target, err := filepath.Abs(file)
		expect.NoError(t, err)
		expect.NoError(t, os.Symlink(target, filepath.Join(folder, filepath.Base(file))))
	}
	return folder
}

func TestEverySyntheaPatientExportIsComplete(t *testing.T) {
	t.Parallel()
	all, err := persona.LoadDir(syntheaFolder(t))
	expect.NoError(t, err)
	handler, err := newSandbox(all)
	expect.NoError(t, err)
	for _, person := range all {
		t.Run(person.ID, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := scenario{handler: handler, person: person, label: "synthea"}.run(t)
				checkWhole(t, r)
				checkCalm(t, r)
			})
		})
	}
}
