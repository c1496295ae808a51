package header

import "recordbridge/shared/fhir/ccda/terms"

// relationTypes maps a relatedDocument's type to document-relationship-type (FHIR R4, Composition.relatesTo).
const relationTypes terms.Table = `
RPLC replaces
APND appends
XFRM transforms
`

// unknownRaces maps each null flavor that US Core accepts as a race to its display (us-core-race, ombCategory).
const unknownRaces terms.Table = `
UNK Unknown
ASKU Asked but no answer
`

// languages maps three-letter ISO 639-2 codes to BCP 47 tags, for languages that also have a two-letter code (RFC 5646,
// 2.2.1).
const languages terms.Table = `
eng en
spa es
fre fr
fra fr
ger de
deu de
chi zh
zho zh
vie vi
kor ko
rus ru
ara ar
por pt
ita it
jpn ja
pol pl
hin hi
ben bn
urd ur
per fa
fas fa
hat ht
heb he
hun hu
guj gu
tgl tl
khm km
lao lo
tha th
ukr uk
som so
swa sw
amh am
nav nv
arm hy
hye hy
gre el
ell el
pan pa
tam ta
tel te
nep ne
bur my
mya my
`
