package catalog

import (
	"bytes"
	_ "embed"
	"fmt"

	"go.yaml.in/yaml/v3"

	"recordbridge/shared/catalog/intake"
)

//go:embed sources.yaml
var sources []byte

// Sources are the published lists that are known (sources.yaml), for an operator to make sources of.
func Sources() ([]intake.Source, error) {
	var all []intake.Source
	reader := yaml.NewDecoder(bytes.NewReader(sources))
	reader.KnownFields(true)
	if err := reader.Decode(&all); err != nil {
		return nil, fmt.Errorf("read sources.yaml: %w", err)
	}
	return all, nil
}
