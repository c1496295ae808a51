package views

import (
	"errors"
	"fmt"
	"slices"

	"recordbridge/infra/recordbridge/fhirpath"
)

// Limits on the work for one resource.
const (
	maxSteps  = 2_000_000 // evaluated elements and composed cells
	maxLevels = 1000      // of repeat

	bytesPerStep = 256 // of a cell
)

var errLevels = errors.New("repeat descends too deeply")

// Rows returns the view's rows of a resource, which encoding/json decoded with UseNumber. Resources of other types
// have no rows. Errors contain no values.
func (v *View) Rows(object map[string]any) ([][]any, error) {
	if object["resourceType"] != v.Resource {
		return nil, nil
	}
	steps := maxSteps
	resource := fhirpath.Resource(object)
	scope := fhirpath.Scope{Resource: resource, RowIndex: 0, Steps: &steps}
	for i, where := range v.where {
		ok, err := where.Test(scope, resource)
		if err != nil {
			return nil, fmt.Errorf("where[%d]: %w", i, err)
		}
		if !ok {
			return nil, nil
		}
	}
	return v.root.rows(scope, resource)
}

// rows returns the rows of a select for an element.
func (s *selection) rows(scope fhirpath.Scope, node fhirpath.Node) ([][]any, error) {
	elements, err := s.elements(scope, node)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	for i, element := range elements {
		if s.each != nil || s.repeat != nil {
			scope.RowIndex = i
		}
		more, err := s.product(scope, element)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	if len(elements) == 0 && s.orNull {
		return [][]any{s.null(nil)}, nil
	}
	return rows, nil
}

// elements returns the elements over which the select iterates.
func (s *selection) elements(scope fhirpath.Scope, node fhirpath.Node) ([]fhirpath.Node, error) {
	switch {
	case s.each != nil:
		elements, err := s.each.Evaluate(scope, node)
		if err != nil {
			return nil, fmt.Errorf("forEach: %w", err)
		}
		return elements, nil
	case s.repeat != nil:
		elements, err := s.descend(scope, node, nil, 0)
		if err != nil {
			return nil, fmt.Errorf("repeat: %w", err)
		}
		return elements, nil
	}
	return []fhirpath.Node{node}, nil
}

// descend appends the elements that repeat finds below node, each before its own descendants.
func (s *selection) descend(
	scope fhirpath.Scope, node fhirpath.Node, found []fhirpath.Node, level int,
) ([]fhirpath.Node, error) {
	if level > maxLevels {
		return nil, errLevels
	}
	for _, path := range s.repeat {
		children, err := path.Evaluate(scope, node)
		if err != nil {
			return nil, err
		}
		if err = spend(scope, len(children)+1); err != nil { // a path such as $this spends none
			return nil, err
		}
		for _, child := range children {
			if found, err = s.descend(scope, child, append(found, child), level+1); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// product returns the Cartesian product of the select's columns, nested selects and unionAll for one element.
func (s *selection) product(scope fhirpath.Scope, element fhirpath.Node) ([][]any, error) {
	own := make([]any, 0, len(s.all))
	if err := spend(scope, len(s.columns)); err != nil {
		return nil, err
	}
	for _, column := range s.columns {
		nodes, err := column.path.Evaluate(scope, element)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", column.Name, err)
		}
		cell, err := column.cell(nodes)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", column.Name, err)
		}
		if text, ok := cell.(string); ok { // which the expression may have composed
			if err := spend(scope, len(text)/bytesPerStep); err != nil {
				return nil, err
			}
		}
		own = append(own, cell)
	}
	rows := [][]any{own}
	for i := range s.selects {
		right, err := s.selects[i].rows(scope, element)
		if err != nil {
			return nil, err
		}
		if rows, err = cross(scope, rows, right); err != nil {
			return nil, err
		}
	}
	if len(s.union) == 0 {
		return rows, nil
	}
	var union [][]any
	for i := range s.union {
		more, err := s.union[i].rows(scope, element)
		if err != nil {
			return nil, err
		}
		union = append(union, more...)
	}
	return cross(scope, rows, union)
}

// cross returns each row of left followed by each row of right.
func cross(scope fhirpath.Scope, left, right [][]any) ([][]any, error) {
	var rows [][]any
	for _, l := range left {
		for _, r := range right {
			if err := spend(scope, len(l)+len(r)); err != nil {
				return nil, err
			}
			rows = append(rows, slices.Concat(l, r))
		}
	}
	return rows, nil
}

func spend(scope fhirpath.Scope, n int) error {
	if *scope.Steps -= n; *scope.Steps < 0 {
		return fhirpath.ErrSteps
	}
	return nil
}

// null appends the row of a forEachOrNull that found nothing.
func (s *selection) null(row []any) []any {
	for _, column := range s.columns {
		row = append(row, column.none)
	}
	for i := range s.selects {
		row = s.selects[i].null(row)
	}
	if len(s.union) > 0 {
		row = s.union[0].null(row)
	}
	return row
}
