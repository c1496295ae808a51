package ihe

import "recordbridge/shared/tefca"

// is compares a community's patient with the verified demographics, using tefca.Person.Is. This comparison, the
// Demographics Double-Check, must precede any request for the patient's data (RCE, SOP "Exchange Purpose
// Implementation: Individual Access Services" v3.0, 4.7 (a)).
func (m match) is(who tefca.Person) bool {
	born := day(m.born)
	for _, n := range m.names {
		if who.Is(n.given, n.family, born, m.sex) {
			return true
		}
	}
	return false
}
