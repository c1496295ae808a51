package fhirpath

import (
	"encoding/json"
	"errors"
	"strconv"
)

// Scope holds the state of a view's evaluation over one resource.
type Scope struct {
	Resource Node
	RowIndex int  // value of %rowIndex
	Steps    *int // remaining number of evaluated elements; Evaluate decreases it
}

// ErrSteps reports that the remaining steps don't suffice for an expression.
var ErrSteps = errors.New("the view needs too many steps for this resource")

// Evaluate returns the elements that the expression selects from node.
func (e *Expression) Evaluate(scope Scope, node Node) ([]Node, error) {
	return e.root.evaluate(environment{scope, node}, node)
}

// Test reports whether the expression is true. It returns an error if the result isn't a boolean or empty.
func (e *Expression) Test(scope Scope, node Node) (bool, error) {
	return holds(e.root, environment{scope, node}, node)
}

type environment struct {
	Scope

	focus Node
}

// spend subtracts n steps.
func (env environment) spend(n int) error {
	if *env.Steps -= n; *env.Steps < 0 {
		return ErrSteps
	}
	return nil
}

// term is a node of the syntax tree. this is the element to which $this refers.
type term interface {
	evaluate(env environment, this Node) ([]Node, error)
}

type (
	literal  struct{ value Node }
	this     struct{}
	focus    struct{} // %context
	resource struct{} // %resource
	rowIndex struct{} // %rowIndex
	step     struct {
		input term // nil for $this
		name  string
	}
	indexer struct{ input, index term }
)

func (l literal) evaluate(environment, Node) ([]Node, error) { return []Node{l.value}, nil }

func (this) evaluate(_ environment, this Node) ([]Node, error) { return []Node{this}, nil }

func (focus) evaluate(env environment, _ Node) ([]Node, error) { return []Node{env.focus}, nil }

func (resource) evaluate(env environment, _ Node) ([]Node, error) { return []Node{env.Resource}, nil }

func (rowIndex) evaluate(env environment, _ Node) ([]Node, error) {
	return number(strconv.Itoa(env.RowIndex), "integer"), nil
}

func (s step) evaluate(env environment, this Node) ([]Node, error) {
	if s.input == nil {
		if is, _ := this.is(s.name); is { // Patient in Patient.name
			return []Node{this}, nil
		}
		found := this.child(s.name)
		return found, env.spend(1 + len(found) + this.size())
	}
	input, err := s.input.evaluate(env, this)
	if err != nil {
		return nil, err
	}
	var found []Node
	for _, node := range input {
		found = append(found, node.child(s.name)...)
		if err := env.spend(1 + node.size()); err != nil {
			return nil, err
		}
	}
	return found, env.spend(len(found))
}

func (i indexer) evaluate(env environment, this Node) ([]Node, error) {
	input, err := i.input.evaluate(env, this)
	if err != nil {
		return nil, err
	}
	index, err := i.index.evaluate(env, this)
	if err != nil || len(index) == 0 {
		return nil, err
	}
	text, ok := index[0].Value.(json.Number)
	at, err := strconv.Atoi(text.String())
	if len(index) > 1 || !ok || err != nil {
		return nil, errors.New("an index isn't an integer")
	}
	if at < 0 || at >= len(input) {
		return nil, nil
	}
	return input[at : at+1], nil
}

// holds evaluates a criterion. An empty result counts as false.
func holds(criterion term, env environment, this Node) (bool, error) {
	result, err := criterion.evaluate(env, this)
	if err != nil {
		return false, err
	}
	value, _, err := truth(result)
	return value, err
}

// truth returns the boolean in a collection. known is false if the collection is empty.
func truth(nodes []Node) (value, known bool, err error) {
	if len(nodes) == 0 {
		return false, false, nil
	}
	value, ok := nodes[0].Value.(bool)
	if len(nodes) > 1 || !ok {
		return false, false, errors.New("a condition isn't a boolean")
	}
	return value, true, nil
}
