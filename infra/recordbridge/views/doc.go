// Package views turns FHIR resources into the rows of tables, as SQL on FHIR's ViewDefinitions describe
// (https://sql-on-fhir.org, version 2). The subpackage fhirpath lists the supported FHIRPath.
package views
