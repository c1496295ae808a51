package sim

import "recordbridge/shared/tefca/sim/document"

// condition is a diagnosis and its usual treatment.
type condition struct {
	code, billing document.Code
	drug          drug
	laboratory    panel
}

// drug is a medication and its usual dosage.
type drug struct {
	code       document.Code
	words      string
	dose, unit string
	hours      string // number of hours between doses; empty if taken as needed
}

// diagnoses returns the conditions, keyed by the names that histories use.
func diagnoses() map[string]condition {
	tablet := func(code, name, words string) drug {
		return drug{document.Code{System: document.RxNorm, Code: code, Name: name}, words, "1", "{tbl}", "24"}
	}
	diagnosis := func(code, name, billing, billed string) condition {
		return condition{
			code:    document.Code{System: document.SNOMED, Code: code, Name: name},
			billing: document.Code{System: document.ICD10CM, Code: billing, Name: billed},
		}
	}
	with := func(c condition, d drug, p panel) condition {
		c.drug, c.laboratory = d, p
		return c
	}
	metformin := tablet("861007", "metformin hydrochloride 500 MG Oral Tablet", "One tablet twice a day with meals")
	metformin.hours = "12"
	albuterol := drug{
		document.Code{
			System: document.RxNorm, Code: "745679",
			Name: "200 ACTUAT albuterol 0.09 MG/ACTUAT Metered Dose Inhaler",
		},
		"Two puffs when breathing is hard", "2",
		"{actuat}", "",
	}
	acetaminophen := tablet("313782", "acetaminophen 325 MG Oral Tablet", "One tablet when it hurts")
	acetaminophen.hours = ""
	return map[string]condition{
		"hypertension": with(diagnosis("59621000", "Essential hypertension", "I10", "Essential (primary) hypertension"),
			tablet("314076", "lisinopril 10 MG Oral Tablet", "One tablet in the morning"), metabolic()),
		"diabetes": with(diagnosis("44054006", "Type 2 diabetes mellitus", "E11.9",
			"Type 2 diabetes mellitus without complications"), metformin, sugar()),
		"hyperlipidemia": with(diagnosis("55822004", "Hyperlipidemia", "E78.5", "Hyperlipidemia, unspecified"),
			tablet("617310", "atorvastatin 20 MG Oral Tablet", "One tablet in the evening"), lipids()),
		"asthma": with(diagnosis("195967001", "Asthma", "J45.909", "Unspecified asthma, uncomplicated"),
			albuterol, panel{}),
		"osteoarthritis": with(diagnosis("396275006", "Osteoarthritis", "M19.90",
			"Unspecified osteoarthritis, unspecified site"), acetaminophen, panel{}),
		"hypothyroidism": with(diagnosis("40930008", "Hypothyroidism", "E03.9", "Hypothyroidism, unspecified"),
			tablet("10582", "levothyroxine", "One tablet before breakfast"), panel{}),
		"heart failure": with(diagnosis("84114007", "Heart failure", "I50.9", "Heart failure, unspecified"),
			tablet("4603", "furosemide", "One tablet in the morning"), metabolic()),
		"fibrillation": with(diagnosis("49436004", "Atrial fibrillation", "I48.91", "Unspecified atrial fibrillation"),
			tablet("11289", "warfarin", "One tablet in the evening"), blood()),
		"rhinitis": with(diagnosis("61582004", "Allergic rhinitis", "J30.9", "Allergic rhinitis, unspecified"),
			tablet("28889", "loratadine", "One tablet a day in the season"), panel{}),
		"reflux": with(diagnosis("235595009", "Gastroesophageal reflux disease", "K21.9",
			"Gastro-esophageal reflux disease without esophagitis"),
			tablet("7646", "omeprazole", "One capsule before breakfast"), panel{}),
		"pneumonia": with(diagnosis("385093006", "Community acquired pneumonia", "J18.9",
			"Pneumonia, unspecified organism"), tablet("18631", "azithromycin",
			"One tablet a day until the pack is empty"), blood()),
		"appendicitis": with(diagnosis("74400008", "Appendicitis", "K37", "Unspecified appendicitis"), drug{}, blood()),
		"sprain": diagnosis("44465007", "Sprain of ankle", "S93.409A",
			"Sprain of unspecified ligament of unspecified ankle, initial encounter"),
		"bronchitis": diagnosis("10509002", "Acute bronchitis", "J20.9", "Acute bronchitis, unspecified"),
	}
}

// allergen holds a substance and the reaction that it causes.
type allergen struct{ kind, substance, reaction, severity document.Code }

func allergens() map[string]allergen {
	snomed := func(code, name string) document.Code {
		return document.Code{System: document.SNOMED, Code: code, Name: name}
	}
	toDrug, toFood := snomed("416098002", "Allergy to drug"), snomed("414285001", "Allergy to food")
	mild, moderate, severe := snomed("255604002", "Mild"), snomed("6736007", "Moderate"), snomed("24484000", "Severe")
	hives, rash, anaphylaxis := snomed("126485001", "Urticaria"), snomed("271807003", "Eruption of skin"),
		snomed("39579001", "Anaphylaxis")
	return map[string]allergen{
		"amoxicillin": {toDrug, document.Code{System: document.RxNorm, Code: "723", Name: "amoxicillin"}, hives, moderate},
		"codeine": {
			toDrug,
			document.Code{System: document.RxNorm, Code: "2670", Name: "codeine"},
			snomed("422587007", "Nausea"), mild,
		},
		"ibuprofen": {toDrug, document.Code{System: document.RxNorm, Code: "5640", Name: "ibuprofen"}, rash, mild},
		"peanut":    {toFood, snomed("762952008", "Peanut"), anaphylaxis, severe},
		"":          {kind: snomed("419199007", "Allergy to substance"), substance: snomed("105590001", "Substance")},
	}
}

func vaccines() map[string]document.Code {
	cvx := func(code, name string) document.Code {
		return document.Code{System: document.CVX, Code: code, Name: name}
	}
	return map[string]document.Code{
		"influenza": cvx("140", "Influenza, seasonal, injectable, preservative free"),
		"tdap":      cvx("115", "Tdap"),
		"pneumonia": cvx("33", "pneumococcal polysaccharide PPV23"),
		"zoster":    cvx("187", "zoster recombinant"),
		"hepatitis": cvx("43", "Hep B, adult"),
	}
}

func procedures() map[string]document.Code {
	snomed := func(code, name string) document.Code {
		return document.Code{System: document.SNOMED, Code: code, Name: name}
	}
	return map[string]document.Code{
		"appendectomy":   snomed("80146002", "Appendectomy"),
		"colonoscopy":    snomed("73761001", "Colonoscopy"),
		"hip":            snomed("52734007", "Total replacement of hip"),
		"echocardiogram": snomed("40701008", "Echocardiography"),
		"x-ray":          snomed("399208008", "Plain chest X-ray"),
		"spirometry":     snomed("127783003", "Spirometry"),
		"ecg":            snomed("29303009", "Electrocardiographic procedure"),
	}
}

func smoking() map[string]document.Code {
	snomed := func(code, name string) document.Code {
		return document.Code{System: document.SNOMED, Code: code, Name: name}
	}
	return map[string]document.Code{
		"never":  snomed("266919005", "Never smoked tobacco"),
		"former": snomed("8517006", "Former smoker"),
		"daily":  snomed("449868002", "Smokes tobacco daily"),
	}
}
