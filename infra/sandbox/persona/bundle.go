package persona

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

const uuidURN = "urn:uuid:"

// bundle is a FHIR Bundle of type transaction or collection, reduced to the fields that the package reads.
type bundle struct {
	ResourceType string  `json:"resourceType"`
	Entry        []entry `json:"entry"`
}

type entry struct {
	FullURL  string          `json:"fullUrl"`
	Resource json.RawMessage `json:"resource"`
}

// resources assigns an ID to every entry and rewrites URLs of the bundle's entries as relative references (Type/id).
func (b bundle) resources() ([]Resource, error) {
	if b.ResourceType != "Bundle" {
		return nil, errNotBundle
	}
	found := make([]Resource, 0, len(b.Entry))
	addresses := map[string]string{} // Type/id by fullUrl
	seen := map[string]bool{}
	for i, e := range b.Entry {
		r, err := e.identify()
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		key := r.Type + "/" + r.ID
		if seen[key] {
			return nil, fmt.Errorf("%s: %w", key, errDuplicateID)
		}
		seen[key] = true
		if e.FullURL != "" {
			addresses[e.FullURL] = key
		}
		found = append(found, r)
	}
	for i := range found {
		body, err := relink(found[i], addresses)
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", found[i].Type, found[i].ID, err)
		}
		found[i].Body = body
	}

	return patientFirst(found)
}

func (e entry) identify() (Resource, error) {
	var head struct {
		ResourceType string `json:"resourceType"`
		ID           string `json:"id"`
	}
	if err := json.Unmarshal(e.Resource, &head); err != nil {
		return Resource{}, fmt.Errorf("decode resource: %w", err)
	}
	if head.ResourceType == "" {
		return Resource{}, fmt.Errorf("resourceType is empty: %w", errNotBundle)
	}
	if head.ID == "" {
		head.ID, _ = strings.CutPrefix(e.FullURL, uuidURN)
	}
	if head.ID == "" || strings.ContainsAny(head.ID, "/:") {
		return Resource{}, errNoID
	}

	return Resource{Type: head.ResourceType, ID: head.ID, Body: e.Resource}, nil
}

// relink re-encodes the resource with its assigned ID and rewrites URLs of the bundle's entries as relative references.
// Numbers keep their digits, because FHIR distinguishes 1.0 from 1.00.
func relink(r Resource, addresses map[string]string) (json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.UseNumber()
	var body object
	if err := decoder.Decode(&body); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	body["id"] = r.ID
	if err := relinkObject(body, addresses); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}

	return bytes.TrimSpace(out.Bytes()), nil
}

// relinkObject rewrites Reference.reference and Attachment.url. Other URL-like strings, such as identifier values, are
// data and stay unchanged.
func relinkObject(body object, addresses map[string]string) error {
	for key, value := range body {
		text, isText := value.(string)
		if !isText {
			if err := relinkValue(value, addresses); err != nil {
				return err
			}

			continue
		}
		if key != "reference" && key != "url" {
			continue
		}
		if local, ok := addresses[text]; ok {
			body[key] = local
		} else if key == "reference" && strings.HasPrefix(text, uuidURN) {
			return errDanglingUUID
		}
	}

	return nil
}

func relinkValue(value any, addresses map[string]string) error {
	switch value := value.(type) {
	case object:
		return relinkObject(value, addresses)
	case list:
		for _, item := range value {
			if err := relinkValue(item, addresses); err != nil {
				return err
			}
		}
	}

	return nil
}

// patientFirst moves the bundle's only Patient to the front, as Persona.Load guarantees.
func patientFirst(resources []Resource) ([]Resource, error) {
	isPatient := func(r Resource) bool { return r.Type == "Patient" }
	at := slices.IndexFunc(resources, isPatient)
	if at < 0 || slices.ContainsFunc(resources[at+1:], isPatient) {
		return nil, errPatientCount
	}
	patient := resources[at]
	resources = slices.Delete(resources, at, at+1)

	return slices.Insert(resources, 0, patient), nil
}
