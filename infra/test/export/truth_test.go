package exporttest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/sandbox/switches"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export"
)

// The places that the sandbox's switches put into records.
const (
	foreignBase = "http://foreign.example/fhir/"
	insideBase  = "http://inside.example:8080/hapi/fhir"
)

// truth is what a file has to hold, by "Type/id", made of the person's data and not of what the engine does.
type truth struct {
	content    map[string]map[string]any
	bytes      map[string]string   // names by the very bytes, where the server sends them as they are
	referrers  map[string][]string // who refers to a resource, or names it as an attachment
	searchable map[string]bool     // types that the server finds by patient
	sourced    bool                // resources of the server's version of FHIR have a meta.source
}

// truthOf is the record of a person as a server with the switches has it. References are relative in it, whatever the
// server writes.
func truthOf(t *testing.T, s scenario) truth {
	t.Helper()
	with := switches.Set{}
	if s.switches != "" {
		var err error
		with, err = switches.Parse(s.switches)
		expect.NoError(t, err)
	}
	resources, err := s.person.Load()
	expect.NoError(t, err)
	made := truth{
		content: map[string]map[string]any{}, referrers: map[string][]string{},
		searchable: searchable(resources),
	}
	made.sourced, made.bytes = !with.Has(switches.Version), map[string]string{}
	for _, r := range resources {
		body := decode(t, r.Body)
		if with.Is(switches.Version, "dstu2") {
			rename(body)
		}
		made.content[nameOf(body)] = body
		if s.switches == "" {
			made.bytes[string(r.Body)] = nameOf(body)
		}
	}
	made.moveAttachments(with, s.fhirBase())
	for name, body := range made.content {
		walk(body, func(target string) { made.referrers[target] = append(made.referrers[target], name) })
	}
	return made
}

// searchable are the types whose resources name their patient where FHIR R4 searches for it: all of the patient's own
// data. The others are what it refers to.
func searchable(resources []persona.Resource) map[string]bool {
	found := map[string]bool{}
	for _, r := range resources {
		switch r.Type {
		case "Practitioner", "PractitionerRole", "Organization", "Location", "Medication", "Binary", "Questionnaire",
			"ResearchStudy":
		default:
			found[r.Type] = true
		}
	}
	found["MedicationOrder"] = found["MedicationRequest"]
	return found
}

// moveAttachments gives the Binaries of documents the addresses and contents that the switches give them.
func (m truth) moveAttachments(with switches.Set, base string) {
	moved := slices.ContainsFunc([]string{
		switches.AttachmentURLs, switches.AttachmentLarge, switches.AttachmentDrops, switches.AttachmentMissing,
	}, with.Has)
	foreign := with.Has(switches.AttachmentForeign)
	if !moved && !foreign {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m.content)) {
		contents, _ := m.content[name]["content"].([]any)
		for _, one := range contents {
			attachment, _ := one.(map[string]any)["attachment"].(map[string]any)
			old, _ := attachment["url"].(string)
			binary, known := m.content[old]
			switch {
			case !known:
			case foreign:
				attachment["url"] = "https://foreign.example/attachments/" + strings.TrimPrefix(old, "Binary/")
				m.referrers[old] = append(m.referrers[old], name)
			default:
				address := base + "/attachments/" + strings.TrimPrefix(old, "Binary/")
				attachment["url"] = address
				if with.Has(switches.Gateway) {
					attachment["url"] = insideBase + strings.TrimPrefix(address, base)
				}
				delete(m.content, old)
				made := madeBinary(address, binary, with)
				m.content[nameOf(made)] = made
				m.referrers[nameOf(made)] = append(m.referrers[nameOf(made)], name)
			}
		}
	}
}

// madeBinary is what the content at an address becomes (docs/deviations.md, "Exports").
func madeBinary(address string, served map[string]any, with switches.Set) map[string]any {
	sum := sha256.Sum256([]byte(address))
	made := maps.Clone(served)
	made["id"] = "b-" + hex.EncodeToString(sum[:])[:60]
	if size := with.Number(switches.AttachmentLarge); size > 0 {
		line := []byte("generated text of the sandbox 0123456789 abcdefghijklmnopqrstuv ")
		made["data"] = base64.StdEncoding.EncodeToString(bytes.Repeat(line, int(size)<<20/len(line)))
	}
	return made
}

func decode(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var body map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil {
		t.Fatalf("%.200q: %v", raw, err)
	}
	return body
}

func nameOf(body map[string]any) string { return fmt.Sprint(body["resourceType"], "/", body["id"]) }

// rename gives a MedicationRequest the name of DSTU2, in references as well.
func rename(node any) {
	switch node := node.(type) {
	case []any:
		for _, one := range node {
			rename(one)
		}
	case map[string]any:
		for key, one := range node {
			if text, is := one.(string); is && strings.HasPrefix(text, "MedicationRequest") {
				node[key] = "MedicationOrder" + strings.TrimPrefix(text, "MedicationRequest")
			}
			rename(one)
		}
	}
}

// walk calls what for every reference and every address of an attachment in a resource.
func walk(node any, what func(target string)) {
	switch node := node.(type) {
	case []any:
		for _, one := range node {
			walk(one, what)
		}
	case map[string]any:
		for key, one := range node {
			if text, is := one.(string); is && (key == "reference" || key == "url") {
				what(text)
			}
			walk(one, what)
		}
	}
}

// relative undoes what switches do to references.
func relative(node any, base string) {
	switch node := node.(type) {
	case []any:
		for _, one := range node {
			relative(one, base)
		}
	case map[string]any:
		if target, is := node["reference"].(string); is {
			for _, written := range []string{base + "/", foreignBase, insideBase + "/"} {
				target = strings.TrimPrefix(target, written)
			}
			node["reference"] = target
		}
		for _, one := range node {
			relative(one, base)
		}
	}
}

// comparison is how a file compares with the truth.
type comparison struct {
	wrong   []string // what must never be: foreign, twice, changed, unsourced
	missing []string
	silent  []string // of missing: what is not named in the outcome
	lines   []string // of the file, sorted
}

// compare compares the finished export with the truth.
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
	v.wrong = append(v.wrong, books(r, counts)...)
	m.losses(t, &v, r, held)
	return v
}

// verbatim finds the resource that a line is, byte by byte but for the meta.source that the engine has added.
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

// unsource takes away the meta.source that the engine has added and says what is wrong with it.
func unsource(body, want map[string]any, base string, sourced bool) (wrong []string) {
	address := base + "/" + nameOf(body)
	if id, _ := body["id"].(string); strings.HasPrefix(id, "b-") && len(id) == 62 {
		address = "" // checked by its id
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

// narrated is the resource with the narrative that the switch page-large puts into the first one of a page.
func narrated(want, body map[string]any) map[string]any {
	narrative, _ := body["text"].(map[string]any)
	if div, _ := narrative["div"].(string); strings.Contains(div, "generated text of the sandbox") {
		want = maps.Clone(want)
		want["text"] = narrative
	}
	return want
}

// books compares what the task says of its file with the file.
func books(r result, counts map[string]int) (wrong []string) {
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

// shortfall is what the success event tells of a record that is not whole.
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

// losses finds what is missing, and what of it nobody is told of: in the event, but for what the patient has not
// granted and what was asked for by categories, which the outcome has. A resource that only others refer to which are
// missing themselves cannot be known of; those have to be named then. Provenance comes with its targets, and is not
// named beside their types.
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
