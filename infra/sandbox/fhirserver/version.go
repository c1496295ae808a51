package fhirserver

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Version is the FHIR version that the server claims to support. Records are always R4. The versions differ only in the
// CapabilityStatement and the name of one type. A client that doesn't interpret resources sees no other difference.
type Version string

// FHIR versions other than R4, which is represented by the empty string.
const (
	DSTU2 Version = "dstu2"
	STU3  Version = "stu3"
)

// MedicationRequest is named MedicationOrder in DSTU2 (https://hl7.org/fhir/R4/medicationrequest.html#history).
const (
	requestName = "MedicationRequest"
	orderName   = "MedicationOrder"
)

// statement returns the type of the resource served at /metadata, which DSTU2 calls Conformance.
func (v Version) statement() string {
	if v == DSTU2 {
		return "Conformance"
	}

	return "CapabilityStatement"
}

func (v Version) number() string {
	switch v {
	case DSTU2:
		return "1.0.2"
	case STU3:
		return "3.0.1"
	default:
		return "4.0.1"
	}
}

// outer returns the name that an R4 type has in version v.
func (v Version) outer(resourceType string) string {
	if v == DSTU2 && resourceType == requestName {
		return orderName
	}

	return resourceType
}

// inner returns the R4 type for a type name in version v, or "" if v has no such type.
func (v Version) inner(name string) string {
	switch {
	case v == DSTU2 && name == orderName:
		return requestName
	case v == DSTU2 && name == requestName:
		return ""
	default:
		return name
	}
}

// innerReference converts a reference such as "MedicationOrder/id" to the form used in the records.
func (v Version) innerReference(reference string) string {
	if id, is := strings.CutPrefix(reference, orderName+"/"); is && v == DSTU2 {
		return requestName + "/" + id
	}

	return reference
}

// body returns a resource with version v's type names in resourceType and references. Bodies are compact, so each value
// directly follows its colon.
func (v Version) body(of *indexed) json.RawMessage {
	if v != DSTU2 {
		return of.Body
	}

	return bytes.ReplaceAll(of.Body, []byte(`:"`+requestName), []byte(`:"`+orderName))
}
