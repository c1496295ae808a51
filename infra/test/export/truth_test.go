package exporttest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/sandbox/switches"
	"recordbridge/infra/testkit/expect"
)

// Base URLs that the sandbox's switches write into records.
const (
	foreignBase = "http://foreign.example/fhir/"
	insideBase  = "http://inside.example:8080/hapi/fhir"
)

// truth is a file's expected content, keyed by "Type/id" and computed from the person's data without the export engine.
type truth struct {
	content    map[string]map[string]any
	bytes      map[string]string   // names of resources that the server sends unchanged, keyed by their bytes
	referrers  map[string][]string // names of the resources that reference or attach each resource
	searchable map[string]bool     // types that the server can search by patient
	sourced    bool                // whether the server's FHIR version requires meta.source
}

// truthOf returns a person's record as a server with the scenario's switches holds it. References are relative even if
// the server sends absolute ones.
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

// searchable returns the resource types that FHIR R4 can search by patient. Resources of these types belong to the
// patient; resources of other types are only referenced.
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

// moveAttachments applies the attachment switches to the documents' Binaries.
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

// madeBinary returns the Binary that an export creates from the content at a URL (docs/reference/deviations.md,
// "Exports").
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

// rename replaces MedicationRequest with its DSTU2 name in resources and references.
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

// walk passes every reference and URL in a resource to what.
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

// relative makes references relative by removing base and the base URLs that switches add.
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
