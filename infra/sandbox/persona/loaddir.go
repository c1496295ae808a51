package persona

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
)

// maxBundleBytes limits the size of an uncompressed bundle file, so that third-party files can't exhaust memory.
const maxBundleBytes = 256 << 20

var (
	errBundleTooLarge  = errors.New("the bundle is larger than 256 MiB unpacked")
	errNotBundle       = errors.New("not a FHIR Bundle")
	errPatientCount    = errors.New("a bundle must hold exactly one Patient")
	errNoID            = errors.New("an entry has neither a resource id nor a urn:uuid fullUrl")
	errDuplicateID     = errors.New("two entries have the same type and id")
	errDanglingUUID    = errors.New("a urn:uuid reference has no entry in its bundle")
	errNoBundles       = errors.New("no *.json or *.json.gz file found")
	errDuplicatePerson = errors.New("two bundles hold the same Patient id")
)

// LoadDir creates a persona from every R4 bundle (*.json, *.json.gz) in dir, ordered by file name. The ID of a persona
// is the ID of its Patient resource. References of the form urn:uuid are rewritten to Type/id, as a server does for a
// transaction (https://hl7.org/fhir/R4/http.html#trules).
//
// LoadDir validates each file but does not keep its record in memory. The file is read again when the persona is first
// used. If a file is not an R4 bundle, LoadDir returns an error that names the file.
func LoadDir(dir string) ([]Persona, error) {
	folder := os.DirFS(dir)
	names, err := bundleNames(folder)
	if err != nil {
		return nil, fmt.Errorf("bundles in %s: %w", dir, err)
	}
	personas := make([]Persona, 0, len(names))
	seen := map[string]bool{}
	for _, name := range names {
		p, err := loadPersona(folder, name)
		if err != nil {
			return nil, fmt.Errorf("bundle %s: %w", name, err)
		}
		if seen[p.ID] {
			return nil, fmt.Errorf("bundle %s: %w", name, errDuplicatePerson)
		}
		seen[p.ID] = true
		personas = append(personas, p)
	}

	return personas, nil
}

func bundleNames(folder fs.FS) ([]string, error) {
	var names []string
	for _, pattern := range []string{"*.json", "*.json.gz"} {
		found, err := fs.Glob(folder, pattern)
		if err != nil {
			return nil, fmt.Errorf("list files: %w", err)
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		return nil, errNoBundles
	}
	slices.Sort(names)

	return names, nil
}

func loadPersona(folder fs.FS, name string) (Persona, error) {
	resources, err := readBundle(folder, name)
	if err != nil {
		return Persona{}, err
	}
	patient := resources[0]
	types := map[string]bool{}
	for _, r := range resources {
		types[r.Type] = true
	}

	return Persona{
		ID:        patient.ID,
		PatientID: patient.ID,
		Name:      patientName(patient),
		About:     "Loaded from " + name + ".",
		Resources: len(resources),
		Types:     slices.Sorted(maps.Keys(types)),
		load:      sync.OnceValues(func() ([]Resource, error) { return readBundle(folder, name) }),
	}, nil
}

func readBundle(folder fs.FS, name string) ([]Resource, error) {
	raw, err := readUnpacked(folder, name)
	if err != nil {
		return nil, err
	}
	var b bundle
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}

	return b.resources()
}

func readUnpacked(folder fs.FS, name string) ([]byte, error) {
	raw, err := fs.ReadFile(folder, name)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if !strings.HasSuffix(name, ".gz") {
		return raw, nil
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	raw, err = io.ReadAll(io.LimitReader(unpacked, maxBundleBytes+1))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	if len(raw) > maxBundleBytes {
		return nil, errBundleTooLarge
	}

	return raw, nil
}

// patientName returns the Patient's first listed name, or its ID if the Patient has no name.
func patientName(patient Resource) string {
	var body struct {
		Name []struct {
			Text   string   `json:"text"`
			Family string   `json:"family"`
			Given  []string `json:"given"`
		} `json:"name"`
	}
	if err := json.Unmarshal(patient.Body, &body); err != nil || len(body.Name) == 0 {
		return patient.ID
	}
	name := body.Name[0]
	if name.Text != "" {
		return name.Text
	}

	return strings.TrimSpace(strings.Join(name.Given, " ") + " " + name.Family)
}
