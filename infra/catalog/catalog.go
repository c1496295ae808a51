// Package catalog holds the published lists of institutions that are known, for operators to choose from. A list is fetched only when an
// operator has made a source of it.
package catalog

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"recordbridge/shared/catalog/intake"
)

//go:embed sources.yaml
var sources []byte

var errTwice = errors.New("stands there twice")

// Sources are the lists that are known, in the order of their file. Each could be set as it is.
func Sources() ([]intake.Source, error) {
	var known []intake.Source
	reader := yaml.NewDecoder(bytes.NewReader(sources))
	reader.KnownFields(true)
	if err := reader.Decode(&known); err != nil {
		return nil, fmt.Errorf("sources.yaml: %w", err)
	}
	seen := make(map[string]bool, len(known))
	for _, s := range known {
		if err := s.Check(); err != nil {
			return nil, fmt.Errorf("sources.yaml: %s: %w", s.ID, err)
		}
		if seen[s.ID] {
			return nil, fmt.Errorf("sources.yaml: %s: %w", s.ID, errTwice)
		}
		seen[s.ID] = true
	}
	return known, nil
}
