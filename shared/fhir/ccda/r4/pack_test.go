package r4_test

import (
	"reflect"
	"testing"

	"recordbridge/shared/fhir/ccda/r4"
)

func TestUnpackReturnsPackedResource(t *testing.T) {
	t.Parallel()
	const id = "3587798b-897d-5a3f-b44d-7387d1740796"
	one, yes := int32(-7), true
	resources := []r4.Resource{
		&r4.Observation{
			Header: r4.Header{
				ResourceType: "Observation", ID: id, Meta: &r4.Meta{Source: "urn:uuid:" + id, Tag: []r4.Coding{{Code: "t"}}},
				Extension: []r4.Extension{},
			},
			Status: "final", Code: r4.Concept("http://loinc.org", "2345-7", "Glucose é"),
			Subject: &r4.Reference{Reference: "Patient/" + id, Display: "a b/" + id},
			Value:   r4.Value{ValueQuantity: &r4.Quantity{Value: "1.50", Unit: "mg"}, ValueInteger: &one, ValueBoolean: &yes},
		},
		&r4.Patient{
			Header: r4.Header{ResourceType: "Patient", ID: "not-a-uuid"},
			Name:   []r4.HumanName{{Given: []string{"", "A"}}},
		},
		&r4.Binary{Data: []byte{0, 1, 255}, Large: &r4.Large{Size: 3, Encoded: 4, Sum: "\x00\xff"}},
		&r4.Composition{Section: []r4.CompositionSection{{Section: []r4.CompositionSection{{Title: "inner"}}}}},
	}
	var p r4.Packer
	for round := range 4 { // Text becomes known in the second iteration.
		for _, want := range resources {
			if got := p.Unpack(p.Pack(want)); !reflect.DeepEqual(got, want) {
				t.Errorf("round %d: %#v, want %#v", round, got, want)
			}
		}
	}
}
