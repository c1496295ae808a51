// Package catalog owns what is shipped of institutions: which lists a fresh stack begins with (sandbox.yaml,
// vendors.yaml, and with package us a list of the size of the United States'), and folders for operators, the published
// lists that are known (sources.yaml), of which none is fetched before an operator has made a source of it, and an
// example of one that is kept by hand.
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

// sandboxAddress stands in sandbox.yaml for the address of a stack's sandbox.
const sandboxAddress = "${sandbox}"

// Choice is which lists a fresh stack begins with.
type Choice string

// The choices.
const (
	None    Choice = "none"    // nothing is published
	Sandbox Choice = "sandbox" // the stack's own sandbox, and those of vendors
	US      Choice = "us"      // these, and a synthetic list of the size of the United States'
)

// ParseChoice reads one. The error lists what there is.
func ParseChoice(text string) (Choice, error) {
	if known := []Choice{None, Sandbox, US}; !slices.Contains(known, Choice(text)) {
		return "", fmt.Errorf("unknown catalogue; known are %v", known)
	}
	return Choice(text), nil
}

// List is a list with the source that it is imported as.
type List struct {
	intake.Source

	Body io.Reader
}

// Lists are those of a choice, all of them for test mode. sandbox is the address of the stack's sandbox,
// which FHIR bases begin with.
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
