package ucum

import "recordbridge/shared/fhir/ccda/terms"

// unmeant maps valid UCUM symbols to the units that clinical senders intend when they write them. On its own, such a
// symbol is never converted to a code.
const unmeant terms.Table = `
A year-or-ampere
AU arbitrary-units
B bel-or-billion
C Celsius
F Fahrenheit
G gram
Gal gallon
H hour
K thousand
P poise-or-phosphorus
R roentgen-or-ratio
S second
T tesla-or-tablet
am morning
ct count
ft foot
hs bedtime
pH pH
pc after-meals
ph pH
pm evening
pt pint
sph sphere
st stone
u unit
`

// small lists the unit symbols that documents never combine with a prefix of a million or more. In documents, Mg and
// Mmol are capitalisation errors.
const small terms.Table = `
g Mg
l Ml
m Mm
mol Mmol
eq Meq
osm Mosm
s Ms
t Mt
u Mu
`

// capitalAtoms, capitalPrefixes and capitals are UCUM's case-insensitive symbols (column c/i of its tables), except
// those that often have other meanings in capitals (S, H, D, V, BQ, CI).
const (
	capitalAtoms terms.Table = `
G g
L L
M m
MOL mol
EQ eq
OSM osm
U U
[IU] [IU]
M[HG] m[Hg]
M[H2O] m[H2O]
`
	capitalPrefixes terms.Table = `
K k
D d
C c
M m
U u
N n
P p
F f
`
	capitals terms.Table = `
MIN min
HR h
WK wk
MO mo
CEL Cel
[DEGF] [degF]
[IN_I] [in_i]
[LB_AV] [lb_av]
[HPF] [HPF]
[LPF] [LPF]
[DRP] [drp]
`
)

// multiples lists, in lower case, multipliers that precede a volume in cell counts, such as the K in K/uL.
const multiples terms.Table = `
k 10*3
th 10*3
ths 10*3
thou 10*3
thous 10*3
thousand 10*3
m 10*6
mil 10*6
mill 10*6
million 10*6
`

// whole maps senders' units, in lower case and without white space, to codes of the "Table of Example UCUM Codes for
// Electronic Messaging" (Regenstrief Institute).
const whole terms.Table = `
bpm {beats}/min
beatsperminute {beats}/min
breathsperminute {breaths}/min
perminute /min
perhpf /[HPF]
perlpf /[LPF]
/100wbc /100{WBCs}
/100wbcs /100{WBCs}
u/l U/L
u/ml U/mL
miu/l m[IU]/L
miu/ml m[IU]/mL
mu/l mU/L
mu/ml mU/mL
`

// exact maps case-sensitive synonyms to UCUM codes.
const exact terms.Table = `
mIU m[IU]
pH [pH]
`

// words maps unit names and synonyms, in lower case and without white space, to codes. Abbreviations are from ISMP,
// "List of Error-Prone Abbreviations" (mcg, cc, gtt, IU), and RxNorm (MEQ, HR, ACTUAT). Names are from UCUM. The codes
// are from the same source as those in the table whole.
const words terms.Table = `
mg mg
mgs mg
milligram mg
milligrams mg
mcg ug
mcgs ug
microgram ug
micrograms ug
nanogram ng
nanograms ng
gm g
gms g
gram g
grams g
kgs kg
kg kg
kilogram kg
kilograms kg
lb [lb_av]
lbs [lb_av]
pound [lb_av]
pounds [lb_av]
ml mL
mls mL
cc mL
ccs mL
milliliter mL
milliliters mL
mcl uL
microliter uL
microliters uL
liter L
liters L
cumm mm3
mm^3 mm3
mm³ mm3
m^2 m2
m² m2
sqm m2
1.73 {1.73_m2}
1.73m2 {1.73_m2}
1.73m^2 {1.73_m2}
1.73m² {1.73_m2}
1.73sqm {1.73_m2}
cm cm
mm mm
mmol mmol
mmole mmol
mmoles mmol
umole umol
mcmol umol
mosm mosm
mosmol mosm
meq meq
iu [IU]
iunit [IU]
uiu u[IU]
mciu u[IU]
mmhg mm[Hg]
cmh2o cm[H2O]
cmh20 cm[H2O]
degf [degF]
°f [degF]
fahrenheit [degF]
degc Cel
°c Cel
celsius Cel
ph [pH]
sec s
secs s
second s
seconds s
min min
mins min
minute min
minutes min
hr h
hrs h
hour h
hours h
day d
days d
week wk
weeks wk
wks wk
month mo
months mo
mos mo
yr a
yrs a
year a
years a
inch [in_i]
inches [in_i]
in [in_i]
ft [ft_i]
foot [ft_i]
feet [ft_i]
percent %
pct %
tab {tbl}
tabs {tbl}
tbl {tbl}
tablet {tbl}
tablets {tbl}
capsule {capsule}
capsules {capsule}
puff {puff}
puffs {puff}
spray {spray}
sprays {spray}
actuat {actuat}
actuation {actuat}
actuations {actuat}
drop [drp]
drops [drp]
gtt [drp]
gtts [drp]
cell {cells}
cells {cells}
copies {copies}
beats {beats}
breaths {breaths}
ratio {ratio}
index {index}
score {score}
titer {titer}
hpf [HPF]
lpf [LPF]
# {#}
`
