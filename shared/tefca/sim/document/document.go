// Package document writes C-CDA R2.1 documents (HL7 Implementation Guide: Consolidated CDA Templates for Clinical
// Notes) for the simulated network. The supported kinds are continuity of care documents, discharge summaries and
// progress notes. Identical facts always produce identical bytes.
package document

import (
	"bytes"
	"strings"
)

// Kind is the type of a document.
type Kind string

// Kinds of documents.
const (
	Summary   Kind = "summary"   // Continuity of Care Document with all facts up to the visit
	Discharge Kind = "discharge" // Discharge Summary for one inpatient stay
	Progress  Kind = "progress"  // Progress Note about one visit
)

// Document holds the facts that a document states.
type Document struct {
	ID       ID
	Kind     Kind
	Made     string // date and time of creation
	Patient  Patient
	Facility Facility
	Author   Clinician
	Visit    Visit // the visit that the document describes

	Problems      []Problem
	Allergies     []Allergy
	Medications   []Medication
	Immunizations []Immunization
	Procedures    []Procedure
	Visits        []Visit
	Vitals        []Panel
	Results       []Panel
	Smoking       []Smoking
	Note          Note
}

// Patient is the patient whom a document describes.
type Patient struct {
	IDs           []ID // the patient's IDs at the facility
	Given, Family string
	Sex           string // "female" or "male"; any other value means unknown
	BirthDate     string
	Addresses     []Address // current address first
	Email         string
}

// Address is a postal address.
type Address struct{ Street, City, State, PostalCode, Country string }

// Facility is the organisation that authors a document.
type Facility struct {
	OID, NPI string
	Name     string
	Address  Address
	Phone    string
	Ward     Code // type of care location (HSLOC)
}

// Title returns the title of documents of this kind.
func (k Kind) Title() string { return k.code().Name }

func (k Kind) code() Code {
	switch k {
	case Discharge:
		return Code{LOINC, "18842-5", "Discharge summary"}
	case Progress:
		return Code{LOINC, "11506-3", "Progress note"}
	case Summary:
	}
	return Code{LOINC, "34133-9", "Summarization of Episode Note"}
}

func (k Kind) template() string {
	switch k {
	case Discharge:
		return "2.16.840.1.113883.10.20.22.1.8"
	case Progress:
		return "2.16.840.1.113883.10.20.22.1.9"
	case Summary:
	}
	return "2.16.840.1.113883.10.20.22.1.2"
}

// Write encodes the document as XML.
func Write(d Document) []byte {
	sections := d.summary()
	switch d.Kind {
	case Discharge:
		sections = d.discharge()
	case Progress:
		sections = d.progress()
	case Summary:
	}
	var out bytes.Buffer
	out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` +
		"\n<!-- An invented person and an invented facility: made by a simulated network. -->")
	el("ClinicalDocument", pairs{
		"xmlns", "urn:hl7-org:v3", "xmlns:sdtc", "urn:hl7-org:sdtc", "xmlns:xsi",
		"http://www.w3.org/2001/XMLSchema-instance",
	},
		d.header(),
		el("component", nil, el("structuredBody", nil, each(sections, func(s section) node { return s.node() }))),
	).write(&out)
	out.WriteByte('\n')
	return out.Bytes()
}

// summary returns the sections of a Continuity of Care Document: the required sections, which may be empty, and those
// needed for US Core.
func (d Document) summary() []section {
	sections := []section{
		d.allergies(), d.medications(), d.problems(), d.procedures(), d.results(), d.vitals(),
		d.social(), d.encounters(),
	}
	if len(d.Immunizations) > 0 {
		sections = append(sections, d.immunizations())
	}
	return sections
}

func (d Document) discharge() []section {
	return []section{
		d.allergies(), d.course(), d.dischargeDiagnoses(), d.dischargeMedications(), d.plan(), d.procedures(),
		d.results(), d.vitals(),
	}
}

func (d Document) progress() []section {
	return []section{
		d.assessment(), d.plan(), d.notes(), d.allergies(), d.medications(), d.problems(),
		d.results(), d.vitals(),
	}
}

// day converts a date to HL7's format (TS).
func day(date string) string { return strings.ReplaceAll(date, "-", "") }
