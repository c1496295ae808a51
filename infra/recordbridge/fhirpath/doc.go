// Package fhirpath evaluates the FHIRPath expressions that SQL on FHIR requires of runners of shareable views
// (https://sql-on-fhir.org, ShareableViewDefinition), and the join function. Parse rejects all other FHIRPath.
//
// The subset consists of:
//   - paths, $this, indexers and parentheses
//   - string, integer, decimal and boolean literals
//   - view constants (%name), %rowIndex, %resource and %context
//   - and, or, =, !=, <, <=, >, >=, +, -, * and /
//   - where, exists, empty, not, first, ofType, extension, join, getResourceKey and getReferenceKey
//
// The package has no model of FHIR's resources. It takes the type of a choice element from its JSON name: value finds
// valueQuantity, whose type is Quantity.
package fhirpath
