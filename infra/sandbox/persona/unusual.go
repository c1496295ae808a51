package persona

import "strings"

// largeNote is the size in bytes of the largest attachment: more than one part of a client's read buffer, less than
// one answer of a Lambda.
const largeNote = 1 << 20

// unusual adds data that is valid FHIR and yet trips clients: several scripts and emoji, markup in strings, partial
// dates, contained resources, a resource without a category, repeated references and a large attachment.
func unusual(c *chart) {
	c.add("Condition", object{
		"code":          object{"text": "Høysnue – 花粉症 – حساسية 🌾 \u2028 <script>alert('sandbox')</script>"},
		"subject":       c.patient(),
		"onsetDateTime": "1999",
		"note":          list{object{"text": "Line one\nLine two\tTab \"quoted\" back\\slash"}},
	})
	c.add("MedicationRequest", object{
		"status":              "stopped",
		"intent":              "order",
		"contained":           list{object{"resourceType": "Medication", "id": "med", "code": object{"text": "Herbal tea"}}},
		"medicationReference": reference("#med"),
		"subject":             c.patient(),
		"authoredOn":          "2003-04",
	})
	c.add("Observation", object{
		"status":            "entered-in-error",
		"code":              object{"text": "Reading without a category"},
		"subject":           c.patient(),
		"performer":         list{reference(c.doctor(0)), reference(c.doctor(0)), reference(c.doctor(1))},
		"effectiveDateTime": "2001-09",
		"dataAbsentReason":  concept(terminology+"data-absent-reason", "unknown", "Unknown"),
	})
	line := "A long note, as a discharge summary copied forward many times tends to be.\n"
	long := strings.Repeat(line, largeNote/len(line))
	c.add("DocumentReference", c.document(noteTypes[2], 0, list{c.file("text/plain", long)}))
}
