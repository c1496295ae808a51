package views

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"recordbridge/infra/recordbridge/fhirpath"
)

// selection is a compiled select. all lists its columns in the table's order: own columns, nested selects, unionAll.
type selection struct {
	columns []column
	selects []selection
	union   []selection
	each    *fhirpath.Expression
	orNull  bool
	repeat  []*fhirpath.Expression
	all     []Column
}

type column struct {
	Column

	path *fhirpath.Expression
	none any // the cell if forEachOrNull finds nothing: 0 for %rowIndex, otherwise nil
}

type compiler struct {
	constants map[string]fhirpath.Node
	selects   int
}

func (c *compiler) compile(d selectDefinition, depth int) (selection, error) {
	var s selection
	if c.selects++; c.selects > maxSelects || depth > maxNesting {
		return s, fmt.Errorf("the view has more than %d selects, or nests them more than %d deep", maxSelects, maxNesting)
	}
	if err := c.iterate(&s, d); err != nil {
		return s, err
	}
	for _, definition := range d.Column {
		compiled, err := c.column(definition)
		if err != nil {
			return s, fmt.Errorf("column %s: %w", definition.Name, err)
		}
		s.columns = append(s.columns, compiled)
		s.all = append(s.all, compiled.Column)
	}
	for _, definition := range d.Select {
		nested, err := c.compile(definition, depth+1)
		if err != nil {
			return s, err
		}
		s.selects = append(s.selects, nested)
		s.all = append(s.all, nested.all...)
	}
	for i, definition := range d.UnionAll {
		branch, err := c.compile(definition, depth+1)
		if err != nil {
			return s, err
		}
		if i > 0 && !slices.EqualFunc(branch.all, s.union[0].all, sameColumn) {
			return s, fmt.Errorf("unionAll[%d] has other columns than unionAll[0]", i)
		}
		s.union = append(s.union, branch)
	}
	if len(s.union) > 0 {
		s.all = append(s.all, s.union[0].all...)
	}
	if len(s.all) == 0 || len(s.all) > maxColumns {
		return s, fmt.Errorf("a select has no columns, or more than %d", maxColumns)
	}
	return s, nil
}

// iterate compiles the expressions that select the elements.
func (c *compiler) iterate(s *selection, d selectDefinition) error {
	count := 0
	for _, each := range []*string{d.ForEach, d.ForEachOrNull} {
		if each == nil {
			continue
		}
		count++
		var err error
		if s.each, err = fhirpath.Parse(*each, c.constants); err != nil {
			return fmt.Errorf("forEach %q: %w", *each, err)
		}
	}
	s.orNull = d.ForEachOrNull != nil
	for _, path := range d.Repeat {
		expression, err := fhirpath.Parse(path, c.constants)
		if err != nil {
			return fmt.Errorf("repeat %q: %w", path, err)
		}
		s.repeat = append(s.repeat, expression)
	}
	if len(d.Repeat) > 0 {
		count++
	}
	if count > 1 {
		return errors.New("a select has more than one of forEach, forEachOrNull and repeat")
	}
	return nil
}

func (c *compiler) column(d columnDefinition) (column, error) {
	if !sqlName.MatchString(d.Name) {
		return column{}, errors.New("the name must consist of letters, digits and _, and start with a letter")
	}
	kind, err := columnKind(d)
	if err != nil {
		return column{}, err
	}
	path, err := fhirpath.Parse(d.Path, c.constants)
	if err != nil {
		return column{}, err
	}
	compiled := column{
		Column: Column{Name: d.Name, Kind: kind, Collection: d.Collection},
		path:   path, none: nil,
	}
	if d.Path == "%rowIndex" {
		compiled.none, err = compiled.cell([]fhirpath.Node{fhirpath.Literal(json.Number("0"), "integer")})
	}
	return compiled, err
}

// unique returns an error if two columns have the same name. SQL ignores case in names.
func (c *compiler) unique(columns []Column) error {
	for i, column := range columns {
		for _, earlier := range columns[:i] {
			if strings.EqualFold(column.Name, earlier.Name) {
				return fmt.Errorf("the view has two columns %s", column.Name)
			}
		}
	}
	return nil
}

func sameColumn(a, b Column) bool {
	return a.Name == b.Name && a.Kind == b.Kind && a.Collection == b.Collection
}
