package names_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog/names"
)

func TestReadRemovesNoiseFromListedName(t *testing.T) {
	t.Parallel()
	r := names.NewReader()
	for text, want := range map[string]names.Name{
		"Odo Clinic":                         {Display: "Odo Clinic"},
		"TN - Harrow Hills Clinic":           {Display: "Harrow Hills Clinic", State: "TN"},
		"TX - TX - Vela / Crane":             {Display: "Vela / Crane", State: "TX"},
		"XQ - Vela Crane":                    {Display: "XQ - Vela Crane"},
		"Odo Memorial Hospital - ODO_PROD":   {Display: "Odo Memorial Hospital"},
		"Odo Memorial Hospital - OD01":       {Display: "Odo Memorial Hospital"},
		"Odo Reg Med Ctr - C/S (MASTER)":     {Display: "Odo Reg Med Ctr"},
		"Odo Mem Hosp 6.1 Trdl (Hosted XYZ)": {Display: "Odo Mem Hosp"},
		"Odo Health MaaS Pod 003 07":         {Display: "Odo Health"},
		"Odo Health Expanse  (Hosted by XY)": {Display: "Odo Health"},
		"Odo Urology, PA - 42926":            {Display: "Odo Urology, PA"},
		"Odo Urology 1285 - 5634":            {Display: "Odo Urology"},
		"Odo Kidney Institute_8972":          {Display: "Odo Kidney Institute"},
		"***ODO*** Health (TERMED)":          {Display: "ODO Health"},
		"CC034_HARROW WOMENS CARE LLC":       {Display: "Harrow Womens Care LLC"},
		"Clinic 365":                         {Display: "Clinic 365"},
		"Odo &amp; Crane   Eye\u00a0Care\n":  {Display: "Odo & Crane Eye Care"},
		"Odo (Northern) Clinic":              {Display: "Odo (Northern) Clinic"},
		"(TEST) 4711":                        {Display: "(TEST)"},
		"Odo Pain Clinic SALT HARBOR TX":     {Display: "Odo Pain Clinic", City: "Salt Harbor", State: "TX"},
		"Odo Pediatrics PLLC TN":             {Display: "Odo Pediatrics PLLC", State: "TN"},
		"Odo Urgent Care Harrow TX":          {Display: "Odo Urgent Care Harrow TX", State: "TX"},
		"Jane Crane MD PA":                   {Display: "Jane Crane MD PA"},
		"ODO WOMEN'S CENTER OF THE NORTH":    {Display: "Odo Women's Center of the North"},
		"MCHARROW & O'DELL OB/GYN, M.D.":     {Display: "McHarrow & O'Dell OB/GYN, M.D."},
		"Jane Crane Md Pllc":                 {Display: "Jane Crane MD PLLC"},
		"odo health":                         {Display: "Odo Health"},
		"ODOHC":                              {Display: "ODOHC"},
		"DR CRANE 2ND CLINIC":                {Display: "Dr Crane 2nd Clinic"},
		"Crane LLC dba Harbor Eye Care": {
			Display: "Harbor Eye Care",
			Aliases: []string{"Crane LLC", "Crane LLC dba Harbor Eye Care"},
		},
		"Crane LLC d/b/a: Harbor":                   {Display: "Crane LLC"},
		"DBA Harbor Eye Care":                       {Display: "Harbor Eye Care"},
		"TX - Jane Q. Crane MD, PA DBA Harbor Eye":  {Display: "Jane Q. Crane MD, PA", State: "TX"}, // truncated
		"MD - HARROW FOOT & ANKLE HEALTH CENTER AN": {Display: "Harrow Foot & Ankle Health Center", State: "MD"},
	} {
		got := r.Read(text, "")
		plain := strings.Join(strings.Fields(strings.ReplaceAll(text, "&amp;", "&")), " ")
		if want.Aliases == nil && names.SortName(plain) != names.SortName(want.Display) {
			want.Aliases = []string{plain}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	if got := r.Read("Odo Imaging HARROW PA", "PA"); got.City != "Harrow" || got.State != "PA" {
		t.Errorf("where the state is known: %+v", got)
	}
	if got := r.Read("Jane Crane MD PA", "TX"); got.State != "" || got.Display != "Jane Crane MD PA" {
		t.Errorf("where another state is known: %+v", got)
	}
}

func TestKeyIsEqualForAllSpellingsOfName(t *testing.T) {
	t.Parallel()
	r := names.NewReader()
	for _, spellings := range [][]string{
		{
			"St. Odo Med. Ctr., LLC", "SAINT ODO MEDICAL CENTER", "The St Odo Medical Centre, Inc.",
			"Saint Odo Medical Center P. C.",
		},
		{"Odo OB/GYN", "Odo OBGYN, PA", "Odo Obstetrics & Gynecology", "odo obstetrics and gynecology"},
		{"Dr. Jane Crane", "Jane Crane, M.D.", "Jane Crane MD PLLC", "JANE CRANE MD FACOG LLC"},
		{"Harrow Women’s Healthcare", "Harrow Womens Health Care"},
		{"Peña Univ Hosp", "Pena University Hospital"},
	} {
		for _, s := range spellings[1:] {
			if got, want := r.Key(s), r.Key(spellings[0]); got != want {
				t.Errorf("%q has %q, and %q has %q", s, got, spellings[0], want)
			}
		}
	}
	for _, pair := range [][2]string{
		{"Odo North", "Odo South"},
		{"Odo Clinic", "Odo Hospital"},
		{"Odo Clinic 1", "Odo Clinic 2"},
		{"MD Eye Care", "Eye Care"},
	} {
		if r.Key(pair[0]) == r.Key(pair[1]) {
			t.Errorf("%q and %q have one key", pair[0], pair[1])
		}
	}
	if r.Key("MD PA") == "" || r.Key("The") == "" || r.Key("") != "" {
		t.Error("a name of nothing but a form has no key")
	}
	if got := names.SortName("The Odo Clinic"); got != "odo clinic" {
		t.Errorf("sorted by %q", got)
	}
	if !r.IsCommon("hospital") || !r.IsCommon("texas") || r.IsCommon("zorvath") {
		t.Error("common words are mistaken")
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"TX - A - 1 (x", "((( _ -", "CC034_ dba", "&#0;\xff*", "a b c DBA d TX", "A TX - "} {
		f.Add(text, "TX")
	}
	r := names.NewReader()
	f.Fuzz(func(t *testing.T, text, state string) {
		name := r.Read(text, state)
		if !utf8.ValidString(name.Display) || len(name.Display) > 4*200+3*len(text) {
			t.Errorf("%q is shown as %q", text, name.Display)
		}
		if len(names.Words(text)) > 0 && strings.TrimSpace(name.Display) == "" &&
			strings.IndexFunc(text, func(c rune) bool { return 'a' <= c && c <= 'z' }) >= 0 && utf8.ValidString(text) &&
			!strings.Contains(text, "&") {
			t.Errorf("%q is shown as nothing", text)
		}
		r.Key(text)
	})
}
