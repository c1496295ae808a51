package datatype_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

// observed returns an observation that no specific rule matches, so its data types are converted generically.
func observed(rest string) string {
	return `<entry><observation classCode="OBS" moodCode="EVN"><code code="x" codeSystem="2.16.840.1.113883.6.1"/>` +
		rest + `</observation></entry>`
}

func TestDateTimeKeepsPrecision(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"2012": "2012", "201208": "2012-08", "20120806": "2012-08-06", "2012080": "2012-08",
		"201208061430-0500":       "2012-08-06T14:30:00-05:00",
		"20120806143059.123+0200": "2012-08-06T14:30:59.123+02:00",
		"20120806143059.000-0500": "2012-08-06T14:30:59.000-05:00",
		"20120806143059":          "2012-08-06T14:30:59+00:00", // in the document's time zone
		"2012-08-06":              "2012-08-06", "2012-08-06T14:30:59-05:00": "2012-08-06T14:30:59-05:00",
		"2012-08-06T14:30:59Z": "2012-08-06T14:30:59Z",
		"20120230":             "2012-02", "20120000": "2012", "20120806250000": "2012-08-06",
		"201208061430-9900": "2012-08-06T14:30:00+00:00",
	} {
		ccdatest.Case{
			Section: "1", Entries: observed(`<effectiveTime value="` + value + `"/>`),
			Want: []string{"Observation | effectiveDateTime=" + want},
		}.Check(t)
	}
	for _, value := range []string{"", "unknown", "0000", "12"} {
		ccdatest.Case{
			Section: "1", Entries: observed(`<effectiveTime value="` + value + `"/>`),
			Want: []string{"Observation | !effectiveDateTime"},
		}.Check(t)
	}
	ccdatest.Case{
		Section: "1", Entries: observed(`<effectiveTime><low value="2012"/><high value="2013"/></effectiveTime>`),
		Want: []string{"Observation | effectivePeriod.start=2012 | effectivePeriod.end=2013"},
	}.Check(t)
	ccdatest.Case{
		Section: "1", Entries: observed(`<effectiveTime><low value="2013"/><high value="2012"/></effectiveTime>`),
		Want: []string{"Observation | effectivePeriod.start=2013 | !effectivePeriod.end"},
	}.Check(t)
}

func TestValueIsConvertedByDeclaredType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, want string }{
		{
			`<value xsi:type="PQ" value="1.50" unit="mg/dL"/>`,
			"valueQuantity.value=1.5 | valueQuantity.code=mg/dL | valueQuantity.system=http://unitsofmeasure.org",
		},
		{
			`<value xsi:type="PQ" value=".5" unit="tea spoons"/>`,
			"valueQuantity.value=0.5 | valueQuantity.unit=tea spoons | !valueQuantity.code",
		},
		{`<value xsi:type="PQ" value="+007"/>`, "valueQuantity.value=7 | !valueQuantity.unit"},
		{`<value xsi:type="PQ" value="1e3"/>`, "valueQuantity.value=1000"},
		{`<value xsi:type="PQ" value="many" unit="mg"/>`, "valueString=many mg"},
		{`<value xsi:type="PQ" nullFlavor="UNK"/>`, "dataAbsentReason.coding.code=unknown | !valueQuantity"},
		{`<value xsi:type="IVL_PQ"><low value="2" unit="g"/></value>`, "valueQuantity.comparator=>= | valueQuantity.value=2"},
		{`<value xsi:type="IVL_PQ"><high value="2" unit="g" inclusive="false"/></value>`, "valueQuantity.comparator=<"},
		{
			`<value xsi:type="IVL_PQ"><low value="2" unit="g"/><high value="3" unit="g"/></value>`,
			"valueRange.low.value=2 | valueRange.high.value=3",
		},
		{`<value xsi:type="IVL_PQ"><low value="3" unit="g"/><high value="2" unit="g"/></value>`, "valueString=3 g - 2 g"},
		{`<value xsi:type="INT" value="-4"/>`, "valueInteger=-4"},
		{`<value xsi:type="INT" value="99999999999"/>`, "valueQuantity.value=9.9999999999e+10"},
		{`<value xsi:type="BL" value="true"/>`, "valueBoolean=true"},
		{`<value xsi:type="TS" value="2012"/>`, "valueDateTime=2012"},
		{`<value xsi:type="ST">  two   words </value>`, "valueString=two words"},
		{`<value xsi:type="ED"><reference value="#t1"/></value>`, "valueString=in the text"},
		{
			`<value xsi:type="RTO_PQ_PQ"><numerator value="1"/><denominator value="2"/></value>`,
			"valueRatio.denominator.value=2",
		},
		{`<value xsi:type="cda:CD" code="1" codeSystem="2.16.840.1.113883.6.96"/>`, "valueCodeableConcept.coding.code=1"},
		{`<value code="1" codeSystemName="SNOMED CT"/>`, "valueCodeableConcept.coding.system=http://snomed.info/sct"},
		{`<value xsi:type="CD" displayName="only words"/>`, "valueCodeableConcept.text=only words"},
		{
			`<value xsi:type="CD" code="1" codeSystem="9.9"/>`,
			"valueCodeableConcept.coding.code=1 | !valueCodeableConcept.coding.system",
		},
		{`<value xsi:type="CD" code="1" codeSystem="2.999.1"/>`, "valueCodeableConcept.coding.system=urn:oid:2.999.1"},
		{
			`<value xsi:type="PQ" value="1"/><value xsi:type="PQ" value="2"/>`,
			"component.0.valueQuantity.value=1 | component.1.valueQuantity.value=2 | !valueQuantity",
		},
		{
			`<value nullFlavor="OTH" xsi:type="CD"><translation code="t" codeSystem="2.16.840.1.113883.6.103"/></value>`,
			"valueCodeableConcept.coding.0.system=http://hl7.org/fhir/sid/icd-9-cm",
		},
	} {
		ccdatest.Case{
			Section: "1", Entries: `<text><content ID="t1">in <br/>the text</content></text>` + observed(c.value),
			Want: []string{"Observation | " + c.want},
		}.Check(t)
	}
}

func TestNegatedObservationIsNotAsserted(t *testing.T) {
	t.Parallel()
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "with a value", Section: "1",
			Entries: `<entry><observation negationInd="true"><code code="ASSERTION"/>` +
				`<value xsi:type="CD" code="22298006"/></observation></entry>`,
			Want: []string{"Observation | component.code.coding.code=22298006 | component.valueBoolean=false | " +
				"!valueCodeableConcept"},
		},
		{
			Name: "without one", Section: "1",
			Entries: `<entry><observation negationInd="true"><code code="22298006"/></observation></entry>`,
			Want:    []string{"Observation | valueBoolean=false"},
		},
		{
			Name: "and what is planned is a request", Section: "1",
			Entries: `<entry><observation moodCode="RQO"><code code="22298006"/></observation></entry>`,
			Want:    []string{"ServiceRequest | intent=order | code.coding.code=22298006 | status=unknown"},
			Never:   []string{"Observation"},
		},
		{
			Name: "and what no rule knows stays with what it is about", Section: "11450-4",
			Entries: ccdatest.Concern("active", ccdatest.ProblemOf("",
				ccdatest.Pneumonia+
					`<entryRelationship><observation><templateId root="2.16.840.1.113883.19.77"/><code code="y"/>
<value xsi:type="INT" value="3"/>
<referenceRange><observationRange><value xsi:type="IVL_PQ"><low value="1"/><high value="2"/></value></observationRange>
</referenceRange></observation></entryRelationship>`)),
			Want: []string{"Observation | code.coding.code=y | valueInteger=3 | focus.reference | referenceRange.low.value=1 " +
				"| referenceRange.high.value=2"},
		},
	})
}
