package sim

import (
	"fmt"
	"strconv"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/sim/document"
)

// place is one of the network's fictitious facilities, identified by its number in the directory.
type place struct {
	number      int
	name        string
	city, state string
	postalCode  string
	offset      string // UTC offset of the facility's clocks, ignoring daylight saving time
	given       string // given name of the facility's only clinician
	family      string
	wards       bool // whether patients can stay overnight
}

// places returns all facilities of the network.
func places() []place {
	return []place{
		{1, "Foxglove Lake Hospital", "Madison", "WI", "53704", "-0600", "Poplar", "Quill", true},
		{2, "Prairie Lantern Clinic", "Milwaukee", "WI", "53202", "-0600", "Ash", "Underhill", false},
		{3, "Three Herons Medical Center", "Chicago", "IL", "60602", "-0600", "Olive", "Tarn", true},
		{4, "Tamarack Ridge Hospital", "Portland", "OR", "97209", "-0800", "Spruce", "Vane", true},
		{5, "Cottonwood Bend Clinic", "Austin", "TX", "78702", "-0600", "Myrtle", "Wold", false},
		{6, "Limestone Wren Medical Center", "San Antonio", "TX", "78205", "-0600", "Elder", "Yarrow", true},
		{7, "High Meadowlark Hospital", "Denver", "CO", "80203", "-0700", "Heather", "Alcott", true},
		{8, "Quartz Thicket Clinic", "Boulder", "CO", "80302", "-0700", "Reed", "Bramwell", false},
		{9, "Harbor Finch Hospital", "Boston", "MA", "02109", "-0500", "Ivy", "Corrow", true},
		{10, "Saltmarsh Heron Clinic", "Salem", "MA", "01970", "-0500", "Basil", "Dunmere", false},
		{11, "Evergreen Plover Hospital", "Seattle", "WA", "98104", "-0800", "Clover", "Eastmoor", true},
		{12, "Driftwood Tern Clinic", "Tacoma", "WA", "98402", "-0800", "Sage", "Farrowby", false},
		{13, "Ocotillo Wing Hospital", "Tucson", "AZ", "85704", "-0700", "Acacia", "Garrick", true},
		{14, "Magnolia Crane Medical Center", "Atlanta", "GA", "30308", "-0500", "Jasper", "Holloway", true},
		{15, "Riverbend Kingfisher Hospital", "Indianapolis", "IN", "46204", "-0500", "Daphne", "Inglewood", true},
		{16, "Bluestem Swallow Clinic", "Springfield", "IL", "62701", "-0600", "Forrest", "Jarrow", false},
		{17, "Ironwood Falcon Hospital", "Nashville", "TN", "37203", "-0600", "Holly", "Kestrin", true},
		{18, "Silver Thrush Clinic", "Franklin", "TN", "37064", "-0600", "Oakley", "Lindqvist", false},
		{19, "Kestrel Orchard Hospital", "Columbus", "OH", "43215", "-0500", "Rosemary", "Mossgrove", true},
		{20, "Sandpiper Grove Medical Center", "San Diego", "CA", "92103", "-0800", "Thorn", "Northey", true},
	}
}

// Facilities returns the network's directory.
func Facilities() []tefca.Facility {
	listed := make([]tefca.Facility, 0, len(places()))
	for _, p := range places() {
		listed = append(listed, tefca.Facility{
			ID: p.id(), Name: p.name, City: p.city, State: p.state,
			Access: tefca.Documents,
		})
	}
	return listed
}

// placeOf returns the facility with the given directory number.
func placeOf(number int) place { return places()[number-1] }

// oid returns the facility's OID, in the arc reserved for examples (Rec. ITU-T X.660, {joint-iso-itu-t example(999)}).
func (p place) oid() string { return "2.999.1." + strconv.Itoa(p.number) }

func (p place) id() string { return "urn:oid:" + p.oid() }

func (p place) found(match tefca.Match) tefca.Facility {
	return tefca.Facility{ID: p.id(), Name: p.name, City: p.city, State: p.state, Match: match, Access: tefca.Documents}
}

// clinician returns the facility's clinician. The provider number can't be an assigned one, because assigned numbers
// begin with 1 or 2.
func (p place) clinician() document.Clinician {
	return document.Clinician{
		NPI: fmt.Sprintf("99000020%02d", p.number), Given: p.given, Family: p.family,
		Specialty: document.Code{System: document.NUCC, Code: "207Q00000X", Name: "Family Medicine Physician"},
	}
}

// facility returns the facility's details for use in documents. The telephone number is reserved for fiction.
func (p place) facility() document.Facility {
	ward := document.Code{System: hsloc, Code: "1117-1", Name: "Family Medicine Clinic"}
	if p.wards {
		ward = document.Code{System: hsloc, Code: "1060-3", Name: "Medical Ward"}
	}
	return document.Facility{
		OID: p.oid(), NPI: fmt.Sprintf("99000010%02d", p.number), Name: p.name,
		Phone: fmt.Sprintf("+1-555-010-01%02d", p.number), Ward: ward,
		Address: document.Address{
			Street: strconv.Itoa(100+p.number) + " Example Avenue", City: p.city, State: p.state,
			PostalCode: p.postalCode, Country: "US",
		},
	}
}

const hsloc = "2.16.840.1.113883.6.259" // OID of the code system HealthcareServiceLocation

// noted returns a Noted by the facility's clinician, dated the morning of the given date.
func (p place) noted(date string) document.Noted {
	return document.Noted{By: p.clinician(), At: moment(date, "1000", p.offset)}
}
