package sim

// history is a patient's complete medical history. All of a patient's facilities state the patient's long-term facts
// (episodes, allergies and smoking status). A visit's details are stated only by the facility visited, unless the visit
// is shared.
type history struct {
	smoking   string
	community bool // whether all documents contain an identifier that all facilities share
	episodes  []episode
	allergies []allergy
	visits    []visit // ordered by date
}

// episode is a period in which the patient has a condition. Dates are YYYY-MM-DD.
type episode struct {
	condition string
	from, to  string
	at        int // facility that made the diagnosis
}

type allergy struct {
	allergen string // empty if the patient has no known allergy
	from     string
	at       int
}

// visit is a patient's visit to a facility. Each visit produces one document at that facility.
type visit struct {
	at       int
	from, to string // dates; to is set only for an inpatient stay
	reason   string // condition that caused the visit
	done     []string
	vaccines []string
	noted    bool // whether the document is a progress note
	shared   bool // whether other facilities also report the visit
	record   int  // index of the local ID under which the visit is recorded
}

// histories returns the patients' histories by subject.
func histories() map[string]history {
	return map[string]history{
		"p01": maple(), "p02": sorrel(), "p03": willow(), "p04": rowan(), "p05": hazel(), "p06": alder(),
		"p07": juniper(), "p09": laurel(), "p10": cedar(), "p11": briar(), "p12": aspen(),
		"p13": holly(13), "p14": holly(19),
	}
}

func maple() history {
	return history{
		smoking:   "never",
		allergies: []allergy{{"amoxicillin", "1999-06-01", 1}},
		episodes: []episode{
			{"asthma", "2015-04-10", "", 1},
			{"hypertension", "2021-09-14", "", 2},
			{"appendicitis", "2022-11-03", "2022-11-20", 1},
		},
		visits: []visit{
			{at: 1, from: "2019-05-21", reason: "asthma", done: []string{"spirometry"}},
			{at: 2, from: "2021-09-14", reason: "hypertension", vaccines: []string{"influenza"}},
			{at: 1, from: "2022-11-03", to: "2022-11-06", reason: "appendicitis", done: []string{"appendectomy"}},
			{at: 2, from: "2023-03-08", reason: "hypertension", noted: true},
			{at: 1, from: "2023-10-17", reason: "asthma", vaccines: []string{"influenza", "tdap"}},
			{at: 3, from: "2024-02-06", reason: "hypertension", done: []string{"ecg"}},
			{at: 2, from: "2024-10-22", reason: "hypertension", vaccines: []string{"influenza"}},
			{at: 3, from: "2025-02-11", reason: "hypertension"},
			{at: 1, from: "2025-06-03", reason: "asthma", done: []string{"spirometry"}},
		},
	}
}

func sorrel() history {
	return history{
		smoking:   "former",
		allergies: []allergy{{"codeine", "1988-01-01", 4}, {"ibuprofen", "2009-03-15", 4}},
		episodes: []episode{
			{"hypertension", "2006-05-09", "", 4},
			{"hyperlipidemia", "2010-02-18", "", 4},
			{"diabetes", "2014-10-07", "", 4},
			{"osteoarthritis", "2016-03-22", "", 4},
			{"fibrillation", "2020-01-28", "", 4},
			{"heart failure", "2023-08-15", "", 4},
		},
		visits: []visit{
			{at: 4, from: "2016-03-22", reason: "osteoarthritis", vaccines: []string{"pneumonia"}},
			{at: 4, from: "2018-06-04", to: "2018-06-09", reason: "osteoarthritis", done: []string{"hip"}},
			{at: 4, from: "2020-01-28", reason: "fibrillation", done: []string{"ecg"}},
			{at: 4, from: "2021-11-16", reason: "diabetes", vaccines: []string{"influenza", "zoster"}},
			{at: 4, from: "2023-08-15", to: "2023-08-22", reason: "heart failure", done: []string{"echocardiogram", "x-ray"}},
			{at: 4, from: "2025-01-14", reason: "heart failure", noted: true},
		},
	}
}

func willow() history {
	return history{
		smoking:   "never",
		allergies: []allergy{{"", "2022-02-09", 5}},
		episodes:  []episode{{"rhinitis", "2022-02-09", "", 5}, {"sprain", "2024-05-27", "2024-07-01", 5}},
		visits: []visit{
			{at: 5, from: "2022-02-09", reason: "rhinitis"},
			{at: 6, from: "2023-04-12", reason: "rhinitis"}, // At this facility, two people match the patient.
			{at: 5, from: "2024-05-27", reason: "sprain"},
		},
	}
}

func rowan() history {
	return history{
		smoking:   "daily",
		allergies: []allergy{{"", "2021-08-19", 7}},
		episodes:  []episode{{"hyperlipidemia", "2021-08-19", "", 7}, {"bronchitis", "2024-01-09", "2024-01-25", 7}},
		visits: []visit{
			{at: 7, from: "2021-08-19", reason: "hyperlipidemia"},
			{at: 8, from: "2022-06-14", reason: "hyperlipidemia"}, // The facility never responds.
			{at: 7, from: "2024-01-09", reason: "bronchitis", done: []string{"x-ray"}},
		},
	}
}

func hazel() history {
	return history{
		smoking:   "never",
		allergies: []allergy{{"peanut", "2004-02-10", 10}},
		episodes:  []episode{{"asthma", "2008-09-30", "", 10}},
		visits:    []visit{{at: 10, from: "2024-09-10", reason: "asthma", vaccines: []string{"influenza"}}},
	}
}

func alder() history {
	return history{
		smoking: "former", community: true,
		allergies: []allergy{{"amoxicillin", "2001-07-07", 11}},
		episodes: []episode{
			{"hypertension", "2017-04-25", "", 12},
			{"diabetes", "2019-09-03", "", 12},
			{"pneumonia", "2023-01-18", "2023-02-10", 11},
		},
		visits: []visit{
			{at: 12, from: "2019-09-03", reason: "diabetes"},
			{at: 12, from: "2021-10-12", reason: "diabetes", vaccines: []string{"influenza"}, record: 1},
			{at: 11, from: "2023-01-18", to: "2023-01-23", reason: "pneumonia", done: []string{"x-ray"}, shared: true},
			{at: 12, from: "2023-03-07", reason: "pneumonia", noted: true},
			{at: 12, from: "2024-04-16", reason: "hypertension", record: 1},
			{at: 11, from: "2024-11-05", reason: "hypertension"},
		},
	}
}

func juniper() history {
	return history{
		smoking:   "never",
		allergies: []allergy{{"codeine", "1975-01-01", 13}},
		episodes: []episode{
			{"osteoarthritis", "2004-10-11", "", 13},
			{"hypothyroidism", "2011-05-17", "", 13},
			{"hypertension", "2013-02-26", "", 13},
		},
		visits: []visit{
			{at: 13, from: "2020-02-18", reason: "hypothyroidism"},
			{at: 13, from: "2022-05-10", reason: "hypertension", vaccines: []string{"zoster"}},
			{at: 13, from: "2024-03-19", reason: "osteoarthritis", done: []string{"x-ray"}},
		},
	}
}

func laurel() history {
	return history{
		smoking:   "never",
		allergies: []allergy{{"ibuprofen", "2010-10-10", 16}},
		episodes:  []episode{{"hypothyroidism", "2014-06-24", "", 16}, {"reflux", "2024-08-13", "", 3}},
		visits: []visit{
			{at: 16, from: "2014-06-24", reason: "hypothyroidism", vaccines: []string{"tdap"}},
			{at: 16, from: "2018-11-20", reason: "hypothyroidism"},
			{at: 3, from: "2024-08-13", reason: "reflux"},
		},
	}
}

func cedar() history {
	return history{
		smoking:   "former",
		allergies: []allergy{{"", "2015-05-05", 17}},
		episodes: []episode{
			{"diabetes", "2015-05-05", "", 17},
			{"hyperlipidemia", "2018-03-13", "", 18},
			{"reflux", "2022-07-26", "", 14},
		},
		visits: []visit{
			{at: 17, from: "2019-05-14", reason: "diabetes"},
			{at: 18, from: "2021-03-23", reason: "hyperlipidemia"},
			{at: 14, from: "2022-07-26", reason: "reflux"},
			{at: 17, from: "2024-05-21", reason: "diabetes", done: []string{"colonoscopy"}},
		},
	}
}

func briar() history {
	return history{
		smoking:   "never",
		allergies: []allergy{{"amoxicillin", "1970-04-04", 20}},
		episodes:  []episode{{"rhinitis", "1992-05-19", "", 20}, {"hypertension", "2019-01-29", "", 20}},
		visits: []visit{
			{at: 20, from: "2019-01-29", reason: "hypertension"},
			{at: 20, from: "2021-06-08", reason: "hypertension"},
			{at: 20, from: "2023-09-26", reason: "rhinitis", vaccines: []string{"influenza", "hepatitis"}},
			{at: 20, from: "2025-03-04", reason: "hypertension", noted: true},
		},
	}
}

func aspen() history {
	return history{
		smoking:   "daily",
		allergies: []allergy{{"", "2018-12-04", 19}},
		episodes:  []episode{{"reflux", "2018-12-04", "", 19}, {"bronchitis", "2023-12-12", "2024-01-02", 19}},
		visits: []visit{
			{at: 19, from: "2018-12-04", reason: "reflux"},
			{at: 14, from: "2020-10-06", reason: "reflux"},
			{at: 15, from: "2021-02-02", reason: "reflux"},
			{at: 7, from: "2022-03-15", reason: "reflux"},
			{at: 19, from: "2023-12-12", reason: "bronchitis", done: []string{"x-ray"}},
		},
	}
}

// holly returns the history of one of two twins, who visit different facilities.
func holly(at int) history {
	return history{
		smoking:   "never",
		allergies: []allergy{{"", "2023-05-09", at}},
		episodes:  []episode{{"rhinitis", "2023-05-09", "", at}},
		visits:    []visit{{at: at, from: "2023-05-09", reason: "rhinitis"}},
	}
}
