package us

// tables lists the possible name parts by kind. A name part may end in "=" followed by its relative frequency. A word
// that names a kind of name part is a placeholder for a random part of that kind.
var tables = map[string]string{
	"names": "First I Surname, Degree=90|First I Surname Degree=30|First Surname, Degree=60|Surname, First Degree=20|Dr " +
		"First Surname=18|First Surname=42|" +
		"Proper=62|Proper Field Noun=230|Proper Field=100|Proper Kind Noun=130|Proper Medical Noun=20|Proper Family " +
		"Medicine=20|Proper Internal Medicine=8|" +
		"Quality Field Noun of Proper=50|Proper Quality Field and Field Noun=80|Proper County Public=18|Proper Regional " +
		"Medical Center=10|Proper Memorial Hospital=12|" +
		"Saint Surname Hospital=9|Proper Community Health Center=12|Proper Field and Field Noun=40|Proper Health " +
		"System=10|Quality Field of Proper=18|" +
		"Proper Valley Field Noun=14|The Proper Clinic for Field=14|Proper Foot and Ankle Noun=14|Proper Primary Care " +
		"Noun=16|Proper Urgent Care=10|" +
		"Surname and Surname Field=10|Proper Center for Field and Field=40|Proper Field Noun and Quality Field Noun of " +
		"Proper=45|University of Proper Hospital=6|Surname Family Practice=12",
	"common": "Proper Family Medical Center=4|Proper Field Noun=6|Proper Regional Medical Center=2|Proper Memorial " +
		"Hospital=2|Proper Urgent Care=2|Proper Health System=2|" +
		"Proper Primary Care=2|Proper Family Practice=2",
	"Field": "Family=30|Pain=16|Pediatric=11|Pediatrics=15|Chiropractic=13|Dermatology=13|Spine=9|Surgery=9|Surgical" +
		"=9|Eye=10|Heart=8|Cardiology=9|Neurology=9|" +
		"Vascular=7|Urology=7|Women's=6|Gastroenterology=7|Sports Medicine=6|Podiatry=6|Sleep=5|OB " +
		"GYN=6|Allergy=5|Orthopedic=10|Nephrology=5|Behavioral Health=6|" +
		"Counseling=6|Internal Medicine=7|Physical " +
		"Therapy=5|Oncology=4|Endocrinology=4|Rheumatology=3|Vision=3|Dental=2|Foot and " +
		"Ankle=3|Medical=20|Health=16|Wellness=4",
	"Noun": "Center=72|Clinic=64|Associates=66|Group=36|Specialists=22|Care=34|Institute=18|Services=24|Consultants=" +
		"14|Physicians=18|Practice=18|Partners=7|" +
		"Healthcare=14|Centers=5|Assoc=8|Wellness Center=4|Management=7|Medicine=8",
	"Kind": "Medical=80|Health=32|Healthcare=18|Wellness=10",
	"Quality": "Advanced=10|Premier=5|Complete=3|Comprehensive=4|Integrated=3|North=10|South=7|Central=6|West=5|New=" +
		"4|Northwest=4|Total=2|Modern=2",
	"Public": "Public Health=5|Hospital=6|Medical Center=3|Health Department=3",
	"Degree": "MD=70|M.D.=16|DO=9|DPM=7|DC=5|MD FACP=3|NP=2|PhD=3|LCSW=2|OD=2",
	"First": "John=3|Maria=2|James|Linda|Robert|Susan|David=2|Karen|Michael=2|Lisa|William|Nancy|Richard|Anna|Thomas" +
		"|Laura|Daniel|Ruth|Paul|Helen|Mark|Julia|Peter|Rosa|" +
		"Ahmed|Mei|Ravi|Sofia|Ivan|Amara|Luis|Priya|Omar|Elena|Kenji|Fatima",
	"begin": "Bel|Cor|Dun|Fen|Gar|Hal|Jor|Kel|Lor|Mor|Nel|Orv|Pen|Quil|Ros|Sel|Tor|Ulm|Ver|Wil|Yor|Zan|Thar|Bram|Esk" +
		"|Ivel|Odd|Umb|Glen|Strath|Mul|Hex|Tam|Pol|Dray|Cald|" +
		"Fro|Wex|Lun|Bri",
	"middle": "a|e|o|an|en|or|el|ing|am|ow|ist|ur|ath|ock|und|i|ev|ast",
	"end": "wick|mere|stow|combe|thwaite|holt|shaw|ness|stead|beck|garth|fold|march|rigg|tarn|keld|hythe|wold|cr" +
		"oft|hurst",
	"surname": "quist|ovar|anko|ibar|esku|ardt|opolo|ussen|ikov|erra|ondo|awala|etti|ubar|inoff|ezza|agard|ullin|oye" +
		"n|asko",
	"town":  "=8| Falls| City| Springs| Heights",
	"comma": " =3|, =4",
	"form":  "LLC=78|Inc=30|Inc.=12|PLLC=36|PC=24|P.C.=9|PA=20|P.A.=12|Ltd=5|Corp=4|LLP=3|APC=3",
	"noise": "C/S=4|Expanse=3|PROD=2|GL01|(TERMED)|MASTER",
}
