package fhirserver

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Version is the release of FHIR that the server claims to speak. The records are R4 in every version: what differs is
// what a client that passes resources through can see, which is the CapabilityStatement and a name.
type Version string

// The versions beside R4, which is the empty one.
const (
	DSTU2 Version = "dstu2"
	STU3  Version = "stu3"
)

// In DSTU2 a MedicationRequest is a MedicationOrder (https://hl7.org/fhir/R4/medicationrequest.html#history).
const (
	requestName = "MedicationRequest"
	orderName   = "MedicationOrder"
)

// statement is the type of the resource behind /metadata.
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

// outer is what this version calls a type of R4.
func (v Version) outer(resourceType string) string {
	if v == DSTU2 && resourceType == requestName {
		return orderName
	}

	return resourceType
}

// inner is the type of R4 that a name of this version stands for, empty when the version does not have the name.
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

// innerReference turns "MedicationOrder/id" into the reference that the records hold.
func (v Version) innerReference(reference string) string {
	if id, is := strings.CutPrefix(reference, orderName+"/"); is && v == DSTU2 {
		return requestName + "/" + id
	}

	return reference
}

// body is the resource with the names of this version, in resourceType and in references. Bodies are compact, so a
// value follows its colon.
func (v Version) body(of *indexed) json.RawMessage {
	if v != DSTU2 {
		return of.Body
	}

	return bytes.ReplaceAll(of.Body, []byte(`:"`+requestName), []byte(`:"`+orderName))
}
