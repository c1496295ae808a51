package names

import (
	"maps"
	"strings"

	"recordbridge/shared/catalog/geo"
)

// NewReader returns a Reader.
func NewReader() *Reader {
	r := Reader{
		meanings: map[string]string{}, forms: map[string]string{}, suffixes: map[string]bool{}, states: map[string]bool{},
		ambiguous: set("co do pa sc pl dc od pc np sa ma ms ba as ii"),
		fillers:   set("a an and at by for in n of on the to"),
		small:     set("a an and at by de del for in la las los of on the to with y"),
		noise: set("prod production prd live master site c/s cs expanse magic trdl legacy startup start up standards term " +
			"termed " +
			"hosted hosting maas pod conversion historical stat"),
	}
	r.common = set("adult advanced arts care children clinics complete comprehensive first healing holistic home " +
		"integrated kids life living new pain premier " +
		"primary professionals total urgent wellness womens")
	for word, meanings := range Abbreviations() {
		r.meanings[word] = meanings[0]
		for _, meaning := range meanings {
			maps.Copy(r.common, set(meaning))
		}
	}
	for _, state := range geo.States() {
		maps.Copy(r.common, set(strings.ToLower(state)))
	}
	for form := range strings.FieldsSeq(legalForms + degrees + upper) {
		r.forms[strings.ToLower(form)] = form
	}
	for form := range strings.FieldsSeq(legalForms + degrees) {
		r.suffixes[strings.ToLower(form)] = true
	}
	for code := range geo.States() {
		r.states[code] = true
	}
	return &r
}

// Spellings of legal forms, degrees, licences and other words that don't use Title Case.
const (
	legalForms = "LLC LLP LP PLLC PLL LL PLC PC PA PL PSC SC SA APC APMC MDPA MDPC MDSC Inc Incorporated Ltd Limited " +
		"Corp Corporation Co Company "
	degrees = "MD MDs DO DOs DPM OD DC DDS DMD PhD PsyD EdD ND RN NP NPs FNP DNP APRN ARNP CRNP PMHNP CNM CNP LCSW " +
		"LICSW LMFT LMHC LPC LCPC LPCC MFT MSW MSN " +
		"MPH MBA FACOG FACP FACS FACC FAAP FAAO FCCP FAAFP FACFAS Jr Sr "
	upper = "Dr Drs Mr Mrs Ms St Mt Ft ENT OB GYN OBGYN OB/GYN OB-GYN GI ER ICU USA US NE NW SE SW II III IV TMS PMR " +
		"ADHD YMCA YWCA VA "
)

func set(words string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}
