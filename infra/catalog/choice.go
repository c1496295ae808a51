// Package catalog holds the institution data that ships with the project. A new stack starts with lists from
// sandbox.yaml, vendors.yaml and package us, which generates a synthetic list of national size. For operators, the
// package includes an example of a manually maintained list and the known published lists (sources.yaml). A published
// list is not fetched until an operator creates a source for it.
package catalog

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"recordbridge/infra/catalog/us"
	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/catalog/listing"
)

//go:embed sandbox.yaml
var sandboxes string

//go:embed vendors.yaml
var vendors string

// sandboxAddress is the placeholder in sandbox.yaml for the URL of the stack's sandbox.
const sandboxAddress = "${sandbox}"

// Choice selects the lists that a new stack starts with.
type Choice string

// Lists with which a new stack can start.
const (
	None    Choice = "none"    // no institutions
	Sandbox Choice = "sandbox" // the stack's own sandbox and the vendors' public sandboxes
	US      Choice = "us"      // Sandbox plus a synthetic nationwide list
)

// ParseChoice parses the name of a choice. If the name is invalid, the error lists the valid values.
func ParseChoice(text string) (Choice, error) {
	if known := []Choice{None, Sandbox, US}; !slices.Contains(known, Choice(text)) {
		return "", fmt.Errorf("unknown catalogue; known are %v", known)
	}
	return Choice(text), nil
}

// List is an institution list with its import source.
type List struct {
	intake.Source

	Body io.Reader
}

// Lists returns the lists selected by c. All these lists are for test mode. sandbox is the URL of the stack's sandbox
// and the prefix of its FHIR base URLs.
func (c Choice) Lists(sandbox string) []List {
	if c != Sandbox && c != US {
		return nil
	}
	byHand := intake.Source{Mode: "test", Format: listing.YAML, Priority: 100}
	own, theirs := byHand, byHand
	own.ID, own.Name = "sandbox", "This stack's sandbox"
	theirs.ID, theirs.Name = "vendors", "Vendors' sandboxes"
	lists := []List{
		{own, strings.NewReader(strings.ReplaceAll(sandboxes, sandboxAddress, sandbox))},
		{theirs, strings.NewReader(vendors)},
	}
	if c == US {
		lists = append(lists, List{
			intake.Source{
				ID: us.Source, Name: us.Name, License: us.License, Mode: "test", Format: listing.LanternNDJSON,
			},
			us.NewList(),
		})
	}
	return lists
}

//go:embed sources.yaml
var sources []byte

// Sources returns the known published lists (sources.yaml). An operator can create a catalogue source from each list.
func Sources() ([]intake.Source, error) {
	var all []intake.Source
	reader := yaml.NewDecoder(bytes.NewReader(sources))
	reader.KnownFields(true)
	if err := reader.Decode(&all); err != nil {
		return nil, fmt.Errorf("read sources.yaml: %w", err)
	}
	return all, nil
}
