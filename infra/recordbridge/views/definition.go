package views

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"recordbridge/infra/recordbridge/fhirpath"
	"recordbridge/shared/fhir"
)

// Limits on a view. They are far above those of useful views.
const (
	maxBytes   = 1 << 20
	maxSelects = 1000
	maxNesting = 32
	maxColumns = 1000
)

// View is a parsed ViewDefinition.
type View struct {
	Name        string
	Description string
	Resource    string // type of the resources from which the view takes rows
	Columns     []Column

	where []*fhirpath.Expression
	root  selection
}

// definition is the JSON of a ViewDefinition. Metadata is accepted and ignored; other unknown elements are rejected,
// because they may be misspelt.
type definition struct {
	metadata

	ResourceType string                       `json:"resourceType"`
	Name         string                       `json:"name"`
	Description  string                       `json:"description"`
	Resource     string                       `json:"resource"`
	Constant     []map[string]json.RawMessage `json:"constant"`
	Where        []condition                  `json:"where"`
	Select       []selectDefinition           `json:"select"`
}

type metadata struct {
	ID                json.RawMessage `json:"id"`
	Meta              json.RawMessage `json:"meta"`
	ImplicitRules     json.RawMessage `json:"implicitRules"`
	Language          json.RawMessage `json:"language"`
	Text              json.RawMessage `json:"text"`
	Contained         json.RawMessage `json:"contained"`
	Extension         json.RawMessage `json:"extension"`
	URL               json.RawMessage `json:"url"`
	Title             json.RawMessage `json:"title"`
	Identifier        json.RawMessage `json:"identifier"`
	Version           json.RawMessage `json:"version"`
	VersionAlgorithm  json.RawMessage `json:"versionAlgorithmString"`
	Status            json.RawMessage `json:"status"`
	Experimental      json.RawMessage `json:"experimental"`
	Date              json.RawMessage `json:"date"`
	Publisher         json.RawMessage `json:"publisher"`
	Contact           json.RawMessage `json:"contact"`
	UseContext        json.RawMessage `json:"useContext"`
	Jurisdiction      json.RawMessage `json:"jurisdiction"`
	Purpose           json.RawMessage `json:"purpose"`
	Copyright         json.RawMessage `json:"copyright"`
	CopyrightLabel    json.RawMessage `json:"copyrightLabel"`
	ApprovalDate      json.RawMessage `json:"approvalDate"`
	LastReviewDate    json.RawMessage `json:"lastReviewDate"`
	EffectivePeriod   json.RawMessage `json:"effectivePeriod"`
	Topic             json.RawMessage `json:"topic"`
	Author            json.RawMessage `json:"author"`
	Editor            json.RawMessage `json:"editor"`
	Reviewer          json.RawMessage `json:"reviewer"`
	Endorser          json.RawMessage `json:"endorser"`
	RelatedArtifact   json.RawMessage `json:"relatedArtifact"`
	Profile           json.RawMessage `json:"profile"`
	FHIRVersion       json.RawMessage `json:"fhirVersion"`
	ModifierExtension json.RawMessage `json:"-"` // rejected, because it may change the meaning
}

type condition struct {
	Path        string          `json:"path"`
	Description json.RawMessage `json:"description"`
}

type selectDefinition struct {
	Column        []columnDefinition `json:"column"`
	Select        []selectDefinition `json:"select"`
	ForEach       *string            `json:"forEach"`
	ForEachOrNull *string            `json:"forEachOrNull"`
	Repeat        []string           `json:"repeat"`
	UnionAll      []selectDefinition `json:"unionAll"`
}

type columnDefinition struct {
	Name        string `json:"name"`
	Path        string `json:"path"`
	Description string `json:"description"`
	Collection  bool   `json:"collection"`
	Type        string `json:"type"`
	Tag         []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"tag"`
}

// sqlName is the format of the names of views, columns and constants.
var sqlName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// Parse parses and validates a ViewDefinition.
func Parse(data []byte) (*View, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("the view has more than %d bytes", maxBytes)
	}
	var d definition
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return nil, fmt.Errorf("the view isn't a valid ViewDefinition: %w", err)
	}
	switch {
	case d.ResourceType != "" && d.ResourceType != "ViewDefinition":
		return nil, fmt.Errorf("the file contains a resource of type %s, not a ViewDefinition", d.ResourceType)
	case !sqlName.MatchString(d.Name):
		return nil, fmt.Errorf("the view's name %q must consist of letters, digits and _, and start with a letter", d.Name)
	case fhir.TypeName(d.Resource) == fhir.AnyType:
		return nil, fmt.Errorf("the view's resource %q isn't a type of FHIR resources", d.Resource)
	case len(d.Select) == 0:
		return nil, errors.New("the view has no select")
	}
	constants, err := parseConstants(d.Constant)
	if err != nil {
		return nil, err
	}
	c := &compiler{constants: constants, selects: 0}
	view := &View{
		Name: d.Name, Description: d.Description, Resource: d.Resource,
		Columns: nil, where: nil, root: selection{},
	}
	for i, condition := range d.Where {
		where, problem := fhirpath.Parse(condition.Path, constants)
		if problem != nil {
			return nil, fmt.Errorf("where[%d]: %w", i, problem)
		}
		view.where = append(view.where, where)
	}
	root := selectDefinition{
		Column: nil, Select: d.Select, ForEach: nil, ForEachOrNull: nil, Repeat: nil, UnionAll: nil,
	}
	if view.root, err = c.compile(root, 0); err != nil {
		return nil, err
	}
	view.Columns = view.root.all
	return view, c.unique(view.Columns)
}
