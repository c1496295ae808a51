package vitals_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

// vital returns a vital sign with a LOINC code, as a component of an organizer.
func vital(code, rest string) string {
	return `<component><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.27"/>
<code code="` + code + `" codeSystem="2.16.840.1.113883.6.1"/>
<statusCode code="completed"/>` + rest + `</observation></component>`
}

func vitals(members string) string {
	return `<entry><organizer classCode="CLUSTER" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.26"/>
<id root="2.16.840.1.113883.19.5" extension="o"/>
<code code="46680005" codeSystem="2.16.840.1.113883.6.96"/>
<statusCode code="completed"/>` + members + `</organizer></entry>`
}

func TestConvertMapsVitalSignsToObservations(t *testing.T) {
	t.Parallel()
	const day, pq = `<effectiveTime value="20190304"/>`, `<value xsi:type="PQ" value="`
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "are members of a panel", Section: "8716-3",
			Entries: vitals(vital("8867-4", day+pq+`80" unit="/min"/>`)),
			Want: []string{
				"Observation | code.coding.code=85353-1 | code.coding.code=46680005 | category.coding.code=vital-signs | " +
					"hasMember | effectiveDateTime=2019-03-04 | status=final",
				"Observation | code.coding.code=8867-4 | category.coding.code=vital-signs | valueQuantity.value=80 | " +
					"valueQuantity.code=/min | valueQuantity.system=http://unitsofmeasure.org",
			},
		},
		{
			Name: "of several times give the panel a period", Section: "8716-3",
			Entries: vitals(vital("8867-4", day+pq+`80" unit="/min"/>`) +
				vital("9279-1", `<effectiveTime value="20190301"/>`+pq+`18" unit="/min"/>`)),
			Want: []string{"Observation | code.coding.code=85353-1 | effectivePeriod.start=2019-03-01 | " +
				"effectivePeriod.end=2019-03-04"},
		},
		{
			Name: "make one blood pressure of both halves", Section: "8716-3",
			Entries: vitals(vital("8462-4", `<id root="2.16.840.1.113883.19.5" extension="d"/>`+day+pq+
				`82" unit="mm[Hg]"/><interpretationCode code="H" codeSystem="2.16.840.1.113883.5.83"/>`) +
				vital("8480-6", `<id root="2.16.840.1.113883.19.5" extension="s"/>`+day+pq+`121" unit="mm[Hg]"/>`)),
			Want: []string{"Observation | code.coding.code=85354-9 | component.0.code.coding.code=8480-6 | " +
				"component.0.valueQuantity.value=121 | component.1.code.coding.code=8462-4 |" +
				" component.1.valueQuantity.value=82 | component.1.interpretation.coding.code=H | identifier.value=s | " +
				"identifier.value=d | !valueQuantity"},
			Never: []string{"Observation | code.coding.code=8462-4", "Observation | code.coding.code=8480-6"},
		},
		{
			Name: "do not mix blood pressures of two times", Section: "8716-3",
			Entries: vitals(vital("8480-6", day+pq+`121" unit="mm[Hg]"/>`) +
				vital("8480-6", `<effectiveTime value="20190305"/>`+pq+`135" unit="mm[Hg]"/>`) +
				vital("8462-4", `<effectiveTime value="20190305"/>`+pq+`90" unit="mm[Hg]"/>`)),
			Want: []string{
				"Observation | component.0.valueQuantity.value=135 | component.1.valueQuantity.value=90 | " +
					"effectiveDateTime=2019-03-05",
				"Observation | component.0.valueQuantity.value=121 | component.1.dataAbsentReason.coding.code=unknown | " +
					"effectiveDateTime=2019-03-04",
			},
		},
		{
			Name: "find the other half in the section", Section: "8716-3",
			Entries: `<entry><observation><code code="8480-6"/>` + day + pq +
				`121" unit="mm[Hg]"/></observation></entry><entry><observation><code code="8462-4"/>` + day + pq +
				`82" unit="mm[Hg]"/></observation></entry>`,
			Want: []string{"Observation | code.coding.code=85354-9 | component.0.valueQuantity.value=121 | " +
				"component.1.valueQuantity.value=82"},
		},
		{
			Name: "read a blood pressure that is one text", Section: "8716-3",
			Entries: vitals(vital("55284-4", day+`<value xsi:type="ST">120/80 mmHg</value>`)),
			Want: []string{"Observation | code.coding.code=85354-9 | component.0.valueQuantity.value=120 | " +
				"component.1.valueQuantity.value=80 | component.1.valueQuantity.code=mm[Hg] | !valueString"},
		},
		{
			Name: "put inhaled oxygen to the saturation", Section: "8716-3",
			Entries: vitals(vital("3151-8", day+pq+`2" unit="L/min"/>`) + vital("59408-5", day+pq+`95" unit="%"/>`)),
			Want: []string{
				"Observation | code.coding.code=59408-5 | code.coding.code=2708-6 | valueQuantity.value=95 | " +
					"component.code.coding.code=3151-8 | component.valueQuantity.value=2",
			},
			Never: []string{"Observation | code.coding.code=3151-8"},
		},
		{
			Name: "keep the sender's code and unit beside those of the profile", Section: "8716-3",
			Entries: vitals(vital("3141-9", day+pq+`190" unit="lbs"/>`) + vital("8310-5", day+pq+`98.60" unit="F"/>`)),
			Want: []string{
				"Observation | code.coding.0.code=3141-9 | code.coding.1.code=29463-7 | valueQuantity.unit=lbs | " +
					"valueQuantity.code=[lb_av] | valueQuantity.system=http://unitsofmeasure.org",
				"Observation | code.coding.code=8310-5 | valueQuantity.code=[degF]",
			},
		},
		{
			Name: "are quantities also when they are texts", Section: "8716-3",
			Entries: vitals(vital("8310-5", day+`<value xsi:type="ST">36.6 C</value>`) +
				vital("8867-4", day+`<value xsi:type="INT" value="77"/>`)),
			Want: []string{
				"Observation | code.coding.code=8310-5 | valueQuantity.value=36.6 | valueQuantity.code=Cel | !valueString",
				"Observation | code.coding.code=8867-4 | valueQuantity.value=77 | !valueInteger",
			},
		},
		{
			Name: "say why there is no value or time", Section: "8716-3",
			Entries: vitals(vital("8867-4", `<effectiveTime nullFlavor="UNK"/><value xsi:type="PQ" nullFlavor="NASK"/>`)),
			Want: []string{"Observation | code.coding.code=8867-4 | dataAbsentReason.coding.code=not-asked | " +
				"_effectiveDateTime.extension.valueCode=unknown"},
		},
		{
			Name:    "of R1.1 and CCD are told by section and class",
			Section: `<section><templateId root="2.16.840.1.113883.10.20.1.16"/><title>Vitals</title>`,
			Entries: `<entry><organizer><templateId root="2.16.840.1.113883.10.20.1.32"/>
<component><observation><templateId root="2.16.840.1.113883.10.20.1.31"/>
<code code="8867-4" codeSystem="2.16.840.1.113883.6.1"/>` + day + pq + `80" unit="/min"/></observation>` +
				`</component></organizer></entry>`,
			Want: []string{
				"Observation | code.coding.code=85353-1 | hasMember",
				"Observation | code.coding.code=8867-4 | category.coding.code=vital-signs",
			},
			Never: []string{"DiagnosticReport"},
		},
	})
}
