package equipment_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsMedicalEquipment(t *testing.T) {
	t.Parallel()
	const cane = `<participant typeCode="PRD">
<participantRole classCode="MANU"><templateId root="2.16.840.1.113883.10.20.22.4.37"/>
<id root="2.16.840.1.113883.19.4" extension="c"/>
<playingDevice><code code="87405001" codeSystem="2.16.840.1.113883.6.96" displayName="cane"/></playingDevice>
</participantRole></participant>`
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "is a Device that was delivered", Section: "46264-8",
			Entries: `<entry><supply classCode="SPLY" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.50"/>` +
				`<statusCode code="completed"/><effectiveTime xsi:type="IVL_TS"><high value="20030202"/></effectiveTime>` +
				`<quantity value="2"/>` + cane + `</supply></entry>`,
			Want: []string{
				"SupplyDelivery | status=completed | suppliedItem.quantity.value=2 | suppliedItem.itemReference.reference | " +
					"occurrencePeriod.end=2003-02-02",
				"Device | type.coding.code=87405001 | patient.reference | identifier.value=c",
			},
		},
		{
			Name: "in an organizer keeps what the organizer says", Section: "46264-8",
			Entries: `<entry><organizer classCode="CLUSTER" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.135"/>
<code code="40388003" codeSystem="2.16.840.1.113883.6.96"/><statusCode code="completed"/>
<effectiveTime><low value="2007"/></effectiveTime>
<component><supply classCode="SPLY" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.50"/>
<statusCode code="active"/>` + cane + `</supply></component></organizer></entry>`,
			Want: []string{
				"Observation | code.coding.code=40388003 | effectiveDateTime=2007",
				"SupplyDelivery | status=in-progress", "Device | type.coding.code=87405001",
			},
		},
		{
			Name: "of CCD is equipment and no medication", Section: "46264-8",
			Entries: `<entry><supply classCode="SPLY" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.1.34"/>` + cane +
				`</supply></entry>`,
			Want:  []string{"SupplyDelivery", "Device | type.coding.code=87405001"},
			Never: []string{"MedicationDispense", "MedicationRequest"},
		},
		{
			Name: "has a UDI in parts", Section: "46264-8",
			Entries: `<entry><procedure moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.14"/>` +
				ccdatest.Colonoscopy + cane +
				`<entryRelationship typeCode="COMP"><organizer><templateId root="2.16.840.1.113883.10.20.22.4.311"/>
<component><observation><code code="C101722" codeSystem="2.16.840.1.113883.3.26.1.1"/>
<value xsi:type="II" root="1.3.160" extension="00844588003288"/></observation></component>
<component><observation><code code="C101672" codeSystem="2.16.840.1.113883.3.26.1.1"/>
<value xsi:type="ED">M320</value></observation></component>
<component><observation><code code="C101670" codeSystem="2.16.840.1.113883.3.26.1.1"/>
<value xsi:type="TS" value="20300101"/></observation></component></organizer></entryRelationship></procedure></entry>`,
			Want: []string{"Device | udiCarrier.deviceIdentifier=00844588003288 | lotNumber=M320 | expirationDate=2030-01-01"},
		},
	})
}

func TestConvertMergesSuppliesOfSameDeviceAcrossDocuments(t *testing.T) {
	t.Parallel()
	supplied := func(device string) string {
		return ccdatest.Document(ccdatest.SomePatient,
			`<structuredBody><component><section><code code="46264-8" codeSystem="2.16.840.1.113883.6.1"/>
<entry><supply classCode="SPLY" moodCode="EVN">
<templateId root="2.16.840.1.113883.10.20.22.4.50"/><id root="2.16.840.1.113883.19.4" extension="s"/>
<participant typeCode="PRD"><participantRole classCode="MANU"><id root="2.16.840.1.113883.19.4" extension="d"/>
<playingDevice><code code="`+device+`" codeSystem="2.16.840.1.113883.6.96"/></playingDevice></participantRole>`+
				`</participant></supply></entry></section></component></structuredBody>`)
	}
	count := func(kind string, documents ...string) (n int) {
		for _, r := range ccdatest.DocumentFacts(t, documents...) {
			if r.Kind == kind {
				n++
			}
		}
		return n
	}
	for kind, of := range map[string][2]int{"SupplyDelivery": {1, 2}, "Device": {1, 2}} {
		if same := count(kind, supplied("87405001"), supplied("87405001")); same != of[0] {
			t.Errorf("%d %s of one device", same, kind)
		}
		if others := count(kind, supplied("87405001"), supplied("14106009")); others != of[1] {
			t.Errorf("%d %s of two devices", others, kind)
		}
	}
}
