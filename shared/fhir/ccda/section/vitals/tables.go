package vitals

import "recordbridge/shared/fhir/ccda/terms"

// standardCodes maps senders' codes for vital signs to the LOINC codes and displays that US Core requires (US Core
// Vital Signs Profiles; FHIR R4, observation-vitalsigns.html). The LOINC code is added next to the sender's code.
const standardCodes terms.Table = `
3141-9 29463-7 Body weight
3142-7 29463-7 Body weight
8350-1 29463-7 Body weight
8351-9 29463-7 Body weight
27113001 29463-7 Body weight
3137-7 8302-2 Body height
3138-5 8302-2 Body height
8306-3 8302-2 Body height
8301-4 8302-2 Body height
50373000 8302-2 Body height
8287-5 9843-4 Head Occipital-frontal circumference
363812007 9843-4 Head Occipital-frontal circumference
60621009 39156-5 Body mass index (BMI) [Ratio]
8331-1 8310-5 Body temperature
8332-9 8310-5 Body temperature
8328-7 8310-5 Body temperature
8333-7 8310-5 Body temperature
11289-6 8310-5 Body temperature
386725007 8310-5 Body temperature
276885007 8310-5 Body temperature
8889-8 8867-4 Heart rate
8893-0 8867-4 Heart rate
364075005 8867-4 Heart rate
78564009 8867-4 Heart rate
86290005 9279-1 Respiratory rate
2710-2 2708-6 Oxygen saturation in Arterial blood
59408-5 2708-6 Oxygen saturation in Arterial blood
2708-6 59408-5 Oxygen saturation in Arterial blood by Pulse oximetry
431314004 2708-6 Oxygen saturation in Arterial blood
103228002 2708-6 Oxygen saturation in Arterial blood
271649006 8480-6 Systolic blood pressure
271650006 8462-4 Diastolic blood pressure
75367002 85354-9 Blood pressure panel with all children optional
55284-4 85354-9 Blood pressure panel with all children optional
`

// standardUnits maps senders' units to UCUM codes. The keys are in lower case, without spaces or points. The sender's
// spelling is kept as the unit's text.
const standardUnits terms.Table = `
mmhg mm[Hg]
mm[hg] mm[Hg]
mm(hg) mm[Hg]
bpm /min
1/min /min
min-1 /min
beats/min /min
beats/minute /min
beatsperminute /min
breaths/min /min
breaths/minute /min
breathsperminute /min
br/min /min
perminute /min
/minute /min
f [degF]
degf [degF]
[degf] [degF]
degreesf [degF]
fahrenheit [degF]
degreesfahrenheit [degF]
°f [degF]
c Cel
cel Cel
degc Cel
degreesc Cel
celsius Cel
degreescelsius Cel
°c Cel
lb [lb_av]
lbs [lb_av]
lb_av [lb_av]
lbs_av [lb_av]
pounds [lb_av]
pound [lb_av]
oz [oz_av]
ounces [oz_av]
kgs kg
kilogram kg
kilograms kg
grams g
gm g
in [in_i]
in_i [in_i]
in_us [in_i]
inch [in_i]
inches [in_i]
[in_us] [in_i]
ft [ft_i]
feet [ft_i]
cms cm
centimeter cm
centimeters cm
kg/m^2 kg/m2
kg/m² kg/m2
kg/(m^2) kg/m2
kg/sqm kg/m2
percent %
%o2 %
`
