package fhirserver

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Version is the FHIR version that the server claims to support. The records are always R4. The versions differ only as
// far as a client that passes resources through can detect: in the CapabilityStatement and one type name.
type Version string

// Versions other than R4, which is the empty string.
const (
	DSTU2 Version = "dstu2"
	STU3  Version = "stu3"
)

// In DSTU2, MedicationRequest is called MedicationOrder (https://hl7.org/fhir/R4/medicationrequest.html#history).
const (
	requestName = "MedicationRequest"
	orderName   = "MedicationOrder"
)

// statement returns the resource type served at /metadata.
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

// outer returns the name of an R4 type in this version.
func (v Version) outer(resourceType string) string {
	if v == DSTU2 && resourceType == requestName {
		return orderName
	}

	return resourceType
}

// inner returns the R4 type for a name in this version, or "" if this version lacks the name.
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

// innerReference converts a reference such as "MedicationOrder/id" to its form in the records.
func (v Version) innerReference(reference string) string {
	if id, is := strings.CutPrefix(reference, orderName+"/"); is && v == DSTU2 {
		return requestName + "/" + id
	}

	return reference
}

// body returns a resource with this version's names in resourceType and in references. Bodies are compact, so a value
// directly follows its colon.
func (v Version) body(of *indexed) json.RawMessage {
	if v != DSTU2 {
		return of.Body
	}

	return bytes.ReplaceAll(of.Body, []byte(`:"`+requestName), []byte(`:"`+orderName))
}
