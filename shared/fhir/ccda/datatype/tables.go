package datatype

import "recordbridge/shared/fhir/ccda/terms"

// absentReasons maps NullFlavor to data-absent-reason (C-CDA on FHIR, ConceptMap CF-NullFlavorDataAbsentReason).
const absentReasons terms.Table = `
ASKU asked-unknown
NAV temp-unknown
NASK not-asked
MSK masked
NA not-applicable
OTH unsupported
NINF negative-infinity
PINF positive-infinity
NP not-permitted
`

// absentDisplays maps each data-absent-reason code to its display (terminology.hl7.org).
const absentDisplays terms.Table = `
unknown Unknown
asked-unknown Asked But Unknown
temp-unknown Temporarily Unknown
not-asked Not Asked
masked Masked
not-applicable Not Applicable
unsupported Unsupported
negative-infinity Negative Infinity (NINF)
positive-infinity Positive Infinity (PINF)
not-permitted Not Permitted
`

// genders maps AdministrativeGender codes, their display texts and SNOMED CT codes to administrative-gender (C-CDA on
// FHIR, ConceptMap CF-AdministrativeGender).
const genders terms.Table = `
M male
MALE male
248153007 male
F female
FEMALE female
248152002 female
UN other
UNDIFFERENTIATED other
OTH other
UNK unknown
`

// nameUses maps EntityNameUse to name-use (C-CDA on FHIR, ConceptMap CF-NameUse). The ConceptMap lists two codes for L;
// the guide's examples use "usual".
const nameUses terms.Table = `
L usual
OR official
P nickname
`

// otherNameUses lists the EntityNameUse codes that iso21090-EN-use accepts but CF-NameUse does not map.
const otherNameUses = " A ABC C I IDE PHON R SRCH SYL "

// addressUses maps AddressUse to address-use and TelecomUse to contact-point-use (C-CDA on FHIR, ConceptMaps
// CF-AddressUse and CF-TelecomUse).
const addressUses terms.Table = `
H home
HP home
HV home
WP work
DIR work
PUB work
TMP temp
BAD old
OLD old
MC mobile
AS home
EC home
`

// identifierSystems maps well-known identifier namespaces to their URI (FHIR R4, identifier-registry.html).
const identifierSystems terms.Table = `
2.16.840.1.113883.4.6 http://hl7.org/fhir/sid/us-npi
2.16.840.1.113883.4.1 http://hl7.org/fhir/sid/us-ssn
2.16.840.1.113883.4.572 http://hl7.org/fhir/sid/us-medicare
2.16.840.1.113883.4.927 http://hl7.org/fhir/sid/us-mbi
`

// timeUnits maps senders' spellings of time units to UnitsOfTime (FHIR R4, valueset-units-of-time.html).
const timeUnits terms.Table = `
s s
min min
h h
hr h
hour h
hours h
d d
day d
days d
wk wk
week wk
weeks wk
mo mo
month mo
a a
yr a
year a
`

// xhtmlElements maps elements of CDA's narrative block to XHTML elements (StrucDoc.Text; FHIR R4, narrative.html).
const xhtmlElements terms.Table = `
paragraph p
content span
table table
thead thead
tbody tbody
tfoot tfoot
tr tr
th th
td td
caption caption
colgroup colgroup
col col
item li
list ul
sub sub
sup sup
br br
linkHtml a
footnote span
renderMultiMedia span
p p
b b
i i
u u
ul ul
ol ol
li li
div div
span span
strong b
em i
h1 h1
h2 h2
h3 h3
hr hr
pre pre
`

// xhtmlStyles maps the styleCode values of CDA's narrative block to styles.
const xhtmlStyles terms.Table = `
bold font-weight: bold
italics font-style: italic
underline text-decoration: underline
`

// unknownNames lists meaningless text that senders write in place of a name. Underscores stand for spaces. C-CDA
// requires a nullFlavor for an unknown name (C-CDA R2.1, volume 1, "Unknown and No Known Information").
const unknownNames terms.Table = `
unk yes
unsupported yes
n/a yes
na yes
none yes
nil yes
null yes
undefined yes
unspecified yes
nullflavor yes
see_notes yes
see_narrative yes
`

// noDataEndings lists the last words of texts that begin with "no" or "not" and state that data is missing.
const noDataEndings terms.Table = `
applicable yes
asked yes
available yes
documented yes
entered yes
file yes
given yes
indicated yes
known yes
listed yes
provided yes
recorded yes
reported yes
specified yes
stated yes
`
