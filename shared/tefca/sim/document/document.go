// Package document writes C-CDA R2.1 documents (HL7 Implementation Guide: Consolidated CDA Templates for Clinical
// Notes) for the simulated network: continuity of care documents, discharge summaries and progress notes. It owns their
// templates and words, and knows no patient: the same facts give the same bytes.
package document

import (
	"bytes"
	"strings"
)

// Kind is what a document is.
type Kind string

// The kinds.
const (
	Summary   Kind = "summary"   // Continuity of Care Document: everything up to a visit
	Discharge Kind = "discharge" // Discharge Summary: of a stay
	Progress  Kind = "progress"  // Progress Note: of a visit
)

// Document is what one says.
type Document struct {
	ID       ID
	Kind     Kind
	Made     string // a moment
	Patient  Patient
	Facility Facility
	Author   Clinician
	Visit    Visit // that it is about

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

// Patient is whom it is about.
type Patient struct {
	IDs           []ID // of the facility
	Given, Family string
	Sex           string // female, male, or anything else
	BirthDate     string
	Addresses     []Address // the first is the current one
	Email         string
}

// Address is a postal one.
type Address struct{ Street, City, State, PostalCode, Country string }

// Facility is whose document it is.
type Facility struct {
	OID, NPI string
	Name     string
	Address  Address
	Phone    string
	Ward     Code // what kind of place it is (HSLOC)
}

// Title is what a document of a kind is called.
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

// Write writes a document.
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

// summary has the sections that a Continuity of Care Document has to have, be they empty, and
// those that US Core asks for.
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

// day writes a date as HL7 has it (TS).
func day(date string) string { return strings.ReplaceAll(date, "-", "") }
