package persona

import "time"

type (
	object = map[string]any
	list   = []any
)

const (
	loinc       = "http://loinc.org"
	snomed      = "http://snomed.info/sct"
	rxnorm      = "http://www.nlm.nih.gov/research/umls/rxnorm"
	cvx         = "http://hl7.org/fhir/sid/cvx"
	ucum        = "http://unitsofmeasure.org"
	terminology = "http://terminology.hl7.org/CodeSystem/"
)

func reference(to string) object { return object{"reference": to} }

func concept(system, code, display string) object {
	return object{"coding": list{object{"system": system, "code": code, "display": display}}, "text": display}
}

func coded(c code) object { return concept(c.system, c.code, c.display) }

func categories(system, code string) list {
	return list{object{"coding": list{object{"system": terminology + system, "code": code}}}}
}

func quantity(value float64, unit string) object {
	return object{"value": value, "unit": unit, "system": ucum, "code": unit}
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func period(start, end time.Time) object {
	return object{"start": instant(start), "end": instant(end)}
}
