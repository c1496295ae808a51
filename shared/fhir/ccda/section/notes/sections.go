package notes

// narrativeSection describes a section type that usually contains only narrative.
type narrativeSection struct {
	name   string
	codes  []string
	roots  []string
	titles []string
}

// noteKinds returns the codes for all kinds of notes (C-CDA on FHIR, "Notes"; value set Note Types). A Note Activity
// may repeat the section's text in order to name its author.
func noteKinds() []narrativeSection {
	return []narrativeSection{{
		name: "Notes",
		codes: []string{
			"34109-9", "11488-4", "34117-2", "11506-3", "28570-0", "18842-5", "34746-8", "34111-5", "11502-2",
			"11526-1", "18726-0", "34112-3", "34133-9", "64290-0", "34748-4",
		},
		roots:  []string{"2.16.840.1.113883.10.20.22.2.65"},
		titles: []string{"notes", "progress notes", "consultation notes", "clinical notes"},
	}}
}

// historyKinds returns the sections that describe the patient's history, examination and assessment.
func historyKinds() []narrativeSection {
	return []narrativeSection{
		{
			"Assessment",
			[]string{"51848-0"},
			[]string{"2.16.840.1.113883.10.20.22.2.8"},
			[]string{"assessment", "assessments"},
		},
		{
			"Chief Complaint",
			[]string{"10154-3", "46239-0"},
			[]string{"1.3.6.1.4.1.19376.1.5.3.1.1.13.2.1", "2.16.840.1.113883.10.20.22.2.13"},
			[]string{"chief complaint", "reason for visit/chief complaint"},
		},
		{
			"Reason for Visit",
			[]string{"29299-5"},
			[]string{"2.16.840.1.113883.10.20.22.2.12"},
			[]string{"reason for visit"},
		},
		{
			"History of Present Illness",
			[]string{"10164-2"},
			[]string{"1.3.6.1.4.1.19376.1.5.3.1.3.4"},
			[]string{"history of present illness", "hpi"},
		},
		{
			"Review of Systems",
			[]string{"10187-3"},
			[]string{"1.3.6.1.4.1.19376.1.5.3.1.3.18"},
			[]string{"review of systems"},
		},
		{
			"Physical Exam",
			[]string{"29545-1"},
			[]string{"2.16.840.1.113883.10.20.2.10", "1.3.6.1.4.1.19376.1.5.3.1.1.9.15"},
			[]string{"physical exam", "physical examination"},
		},
		{"General Status", []string{"10210-3"}, []string{"2.16.840.1.113883.10.20.2.5"}, []string{"general status"}},
		{
			"Subjective",
			[]string{"61150-9"},
			[]string{"2.16.840.1.113883.10.20.21.2.2"},
			[]string{"subjective", "subjective data"},
		},
		{
			"Objective",
			[]string{"61149-1"},
			[]string{"2.16.840.1.113883.10.20.21.2.1"},
			[]string{"objective", "objective data"},
		},
		{
			"History of Medical and Surgical Illness",
			[]string{"11329-0"},
			[]string{"2.16.840.1.113883.10.20.22.2.39"},
			[]string{"medical (general) history", "general history"},
		},
	}
}

// hospitalKinds returns the sections that describe a hospital stay.
func hospitalKinds() []narrativeSection {
	return []narrativeSection{
		{
			"Hospital Course",
			[]string{"8648-8"},
			[]string{"1.3.6.1.4.1.19376.1.5.3.1.3.5", "2.16.840.1.113883.10.20.22.2.64"},
			[]string{"hospital course", "course of care"},
		},
		{
			"Hospital Consultations",
			[]string{"18841-7"},
			[]string{"2.16.840.1.113883.10.20.22.2.42"},
			[]string{"hospital consultations"},
		},
		{
			"Hospital Discharge Physical",
			[]string{"10184-0"},
			[]string{"1.3.6.1.4.1.19376.1.5.3.1.3.26"},
			[]string{"hospital discharge physical"},
		},
		{
			"Hospital Discharge Studies Summary",
			[]string{"11493-4"},
			[]string{"2.16.840.1.113883.10.20.22.2.16"},
			[]string{"hospital discharge studies summary"},
		},
		{"Discharge Diet", []string{"42344-2"}, []string{"1.3.6.1.4.1.19376.1.5.3.1.3.33"}, []string{"discharge diet"}},
	}
}

// operationKinds returns the sections that describe an operation.
func operationKinds() []narrativeSection {
	return []narrativeSection{
		{
			"Operative Note Fluids",
			[]string{"10216-0"},
			[]string{"2.16.840.1.113883.10.20.7.12"},
			[]string{"operative note fluids"},
		},
		{
			"Operative Note Surgical Procedure",
			[]string{"10223-6"},
			[]string{"2.16.840.1.113883.10.20.7.14"},
			[]string{"surgical procedure"},
		},
		{
			"Procedure Description",
			[]string{"29554-3"},
			[]string{"2.16.840.1.113883.10.20.22.2.27", "2.16.840.1.113883.10.20.22.2.26"},
			[]string{"procedure description", "surgery description"},
		},
		{
			"Procedure Disposition",
			[]string{"59775-7"},
			[]string{"2.16.840.1.113883.10.20.18.2.12"},
			[]string{"procedure disposition"},
		},
		{
			"Procedure Estimated Blood Loss",
			[]string{"59770-8"},
			[]string{"2.16.840.1.113883.10.20.18.2.9"},
			[]string{"estimated blood loss", "procedure estimated blood loss"},
		},
		{
			"Procedure Implants",
			[]string{"59771-6"},
			[]string{"2.16.840.1.113883.10.20.22.2.40"},
			[]string{"procedure implants"},
		},
		{
			"Procedure Specimens Taken",
			[]string{"59773-2"},
			[]string{"2.16.840.1.113883.10.20.22.2.31"},
			[]string{"procedure specimens taken", "specimens taken"},
		},
		{"Surgical Drains", []string{"11537-8"}, []string{"2.16.840.1.113883.10.20.7.13"}, []string{"surgical drains"}},
	}
}
