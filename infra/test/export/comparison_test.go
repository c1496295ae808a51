package exporttest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export"
)

// comparison is the result of comparing an export's file with the content that the server actually holds.
type comparison struct {
	wrong   []string // invalid lines: foreign, duplicate, changed or without a source
	missing []string
	silent  []string // missing resources that the outcome does not report
	lines   []string // the file's lines, sorted
}

func (m truth) compare(t *testing.T, r result) comparison {
	t.Helper()
	var v comparison
	base := r.scenario.fhirBase()
	held := map[string]bool{}
	counts := map[string]int{}
	for line := range bytes.Lines(r.file) {
		v.lines = append(v.lines, string(line))
		name, same := m.verbatim(strings.TrimSuffix(string(line), "\n"), base)
		var body map[string]any
		if !same {
			body = decode(t, line)
			name = nameOf(body)
		}
		if held[name] {
			v.wrong = append(v.wrong, name+" is there twice")
		}
		held[name] = true
		resourceType, _, _ := strings.Cut(name, "/")
		counts[resourceType]++
		want, known := m.content[name]
		if !known {
			v.wrong = append(v.wrong, name+" is not of this record")
		}
		if !known || same {
			continue
		}
		v.wrong = append(v.wrong, unsource(body, want, base, m.sourced)...)
		relative(body, base)
		if !reflect.DeepEqual(body, narrated(want, body)) {
			v.wrong = append(v.wrong, name+" has changed")
		}
	}
	if len(v.lines) == 0 || !strings.HasPrefix(v.lines[0], `{"`) ||
		nameOf(decode(t, []byte(v.lines[0]))) != "Patient/"+r.scenario.person.PatientID {
		v.wrong = append(v.wrong, "the Patient is not the first line")
	}
	slices.Sort(v.lines)
	v.wrong = append(v.wrong, checkStats(r, counts)...)
	m.losses(t, &v, r, held)
	return v
}

// verbatim returns the name of the resource in a line. The line must match the resource byte for byte, except for the
// meta.source that the engine adds.
func (m truth) verbatim(line, base string) (name string, ok bool) {
	begin := strings.Index(line, `"source":"`+base+"/")
	if begin < 0 {
		name, ok = m.bytes[line]
		return name, ok
	}
	before, rest := line[:begin], line[begin:]
	source, after, _ := strings.Cut(strings.TrimPrefix(rest, `"source":"`+base+"/"), `"`)
	own := strings.TrimSuffix(before, `,"meta":{`) + strings.TrimPrefix(after, "}")
	for _, original := range []string{before + strings.TrimPrefix(after, ","), own} {
		if name = m.bytes[original]; name != "" && name == source {
			return name, true
		}
	}
	return "", false
}

// unsource removes the meta.source that the engine added and returns every error in it.
func unsource(body, want map[string]any, base string, sourced bool) (wrong []string) {
	address := base + "/" + nameOf(body)
	if id, _ := body["id"].(string); strings.HasPrefix(id, "b-") && len(id) == 62 {
		address = "" // an engine-created Binary, whose meta.source is not checked
	}
	meta, _ := body["meta"].(map[string]any)
	original, _ := want["meta"].(map[string]any)
	if _, own := original["source"]; own || !sourced {
		return nil
	}
	if source, _ := meta["source"].(string); address != "" && source != address {
		wrong = append(wrong, nameOf(body)+" has the source "+source)
	}
	delete(meta, "source")
	if len(meta) == 0 && original == nil {
		delete(body, "meta")
	}
	return wrong
}

// narrated returns want with the narrative that the page-large switch adds to a page's first resource.
func narrated(want, body map[string]any) map[string]any {
	narrative, _ := body["text"].(map[string]any)
	if div, _ := narrative["div"].(string); strings.Contains(div, "generated text of the sandbox") {
		want = maps.Clone(want)
		want["text"] = narrative
	}
	return want
}

// checkStats compares the task's description of the file with the file itself.
func checkStats(r result, counts map[string]int) (wrong []string) {
	task := r.task
	total := 0
	for _, n := range counts {
		total += n
	}
	if !maps.Equal(counts, task.Stats.TotalByResourceType) || total != task.Stats.TotalResources {
		wrong = append(wrong, fmt.Sprintf("the file has %v, the task tells %v", counts, task.Stats))
	}
	if sum := sha256.Sum256(r.file); len(task.Files) != 1 || task.Files[0].Bytes != int64(len(r.file)) ||
		task.Files[0].SHA256 != hex.EncodeToString(sum[:]) {
		wrong = append(wrong, fmt.Sprintf("the file has %d bytes of SHA-256 %x, the task tells %+v", len(r.file),
			sum, task.Files))
	}
	told := map[string]bool{}
	for _, o := range task.Outcome {
		if told[o.Type] || o.Count != counts[o.Type] {
			wrong = append(wrong, fmt.Sprintf("outcome %+v, the file has %d", o, counts[o.Type]))
		}
		if o.Result == export.OutcomeOK && o.Count == 0 || o.Result == export.OutcomeEmpty && o.Count > 0 {
			wrong = append(wrong, fmt.Sprintf("outcome %+v contradicts itself", o))
		}
		told[o.Type] = true
	}
	for resourceType := range counts {
		if !told[resourceType] {
			wrong = append(wrong, "the outcome does not name "+resourceType)
		}
	}
	return wrong
}

// shortfall returns, by type, the losses that the success event reports.
func (r result) shortfall(t *testing.T) map[string]string {
	t.Helper()
	var body struct {
		Data struct {
			Complete *bool
			Missing  map[string]string
		}
	}
	expect.NoError(t, json.Unmarshal(r.events[0].Body, &body))
	data := body.Data
	if (data.Complete == nil) != (len(data.Missing) == 0) || data.Complete != nil && *data.Complete {
		t.Errorf("complete %v with %v", data.Complete, data.Missing)
	}
	words := strings.Fields("not_advertised other_server not_found rejected refused limit foreign_link too_large " +
		"unavailable invalid_content")
	for resourceType, word := range data.Missing {
		if !slices.Contains(words, word) {
			t.Errorf("%s is missing for %s", resourceType, word)
		}
	}
	return data.Missing
}

// isAttachable reports whether the file must contain a Provenance. A Provenance is required if the file contains one of
// its targets and the target's type is not reported as missing.
func (m truth) isAttachable(name string, held, owned map[string]bool) bool {
	if !strings.HasPrefix(name, "Provenance/") {
		return false
	}
	targets, _ := m.content[name]["target"].([]any)
	return slices.ContainsFunc(targets, func(target any) bool {
		reference, _ := target.(map[string]any)
		at, _ := reference["reference"].(string)
		resourceType, _, _ := strings.Cut(at, "/")
		return held[at] && !owned[resourceType]
	})
}

// losses lists the missing resources, and the subset of them that is not reported. The event must report every loss
// except two kinds that only the outcome must report: resources that the patient has not granted and resources
// requested by category. The engine can't know about a resource that is referenced only by missing resources, so
// reporting those resources' types is sufficient. If the types of a Provenance's targets are reported as missing, the
// Provenance itself needs no report.
func (m truth) losses(t *testing.T, v *comparison, r result, held map[string]bool) {
	t.Helper()
	owned := map[string]bool{}
	for resourceType := range r.shortfall(t) {
		owned[resourceType] = true
	}
	for _, o := range r.task.Outcome {
		if o.OnlyBy != "" || o.Reason == export.LossNotGranted {
			owned[o.Type] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.content)) {
		if held[name] {
			continue
		}
		v.missing = append(v.missing, name)
		resourceType, _, _ := strings.Cut(name, "/")
		known := m.searchable[resourceType] && resourceType != "Provenance" || m.isAttachable(name, held, owned) ||
			slices.ContainsFunc(m.referrers[name], func(by string) bool { return held[by] })
		if known && !owned[resourceType] {
			v.silent = append(v.silent, name)
		}
	}
}
