package ucum_test

import (
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda/ucum"
)

func TestCodeReturnsValidUCUMUnchanged(t *testing.T) {
	t.Parallel()
	for unit := range strings.FieldsSeq(
		`mg kg mL dL L l g/dL mmol/L ug/min /min 10*3/uL 10*-3 10^9/L 10*9/L mm[Hg] cm[H2O] [in_i] [lb_av]
		[degF] Cel % 1 100 kg/m2 kg/m+2 s-1 m.s-2 (g/L).s ((m)) g.(m/s2) /(min.m2) {tbl} {a-b}/d mg{total} /100{WBCs}
		10*3{cells}/uL
		mL/min/{1.73_m2} [IU]/L m[IU]/mL [iU] U/L meq/L mosm/kg daL KiBy B[10.nV] [m/s2/Hz^(1/2)] g% mg% 10.L/min m[H2O]2
		'' [ppm] wk mo a MBq`) {
		if code := ucum.Code(unit); code != unit {
			t.Errorf("%s becomes %q", unit, code)
		}
	}
}

func TestCodeRejectsInvalidUCUM(t *testing.T) {
	t.Parallel()
	refused := strings.Fields(
		`mcg cc IU tab tablet mEq mmHg MCG Kg KG 10+3/uL 10**3 x10 m^2 2m m/ m//s .m m..s m. (m m) (/m) () m{ } {a{b}} m{a}{b}
		{a}{b} {a}2 (m)2 0 01 1.73m2 0.5 1e3 m- m+ m--1 k[in_i] k% kmin [lb] [iu] m[hg] M[Hg [] µg m² °C beats/min`)
	refused = append(refused, "", "mg ", " mg", "m s", "{a b}", "m{\x7f}", "{é}",
		strings.Repeat("(", 40)+"m"+strings.Repeat(")", 40), strings.Repeat("m.", 200)+"m")
	for _, unit := range refused {
		if code := ucum.Code(unit); code == unit && unit != "" {
			t.Errorf("%q is accepted", unit)
		}
	}
}

func TestCodeMapsKnownNonstandardSpellings(t *testing.T) {
	t.Parallel()
	for line := range strings.SplitSeq(strings.TrimSpace(`
mg > mg
mcg > ug
mcg/mL > ug/mL
MCG/KG/MIN > ug/kg/min
µg/dL > ug/dL
cc > mL
MG > mg
Mg > mg
ML > mL
MG/ML > mg/mL
MG/DL > mg/dL
G > g
G/DL > g/dL
gm > g
Gm > g
L > L
KG/M2 > kg/m2
kg/m^2 > kg/m2
CM > cm
MMOL/L > mmol/L
MEQ/L > meq/L
mEq/L > meq/L
MG/HR > mg/h
MM[HG] > mm[Hg]
mm Hg > mm[Hg]
mmHg > mm[Hg]
IU/L > [IU]/L
mIU/mL > m[IU]/mL
MIU/ML > m[IU]/mL
MU/L > mU/L
mu/L > mU/L
uIU/mL > u[IU]/mL
K/uL > 10*3/uL
K/UL > 10*3/uL
k/mm3 > 10*3/mm3
Thousand/uL > 10*3/uL
M/uL > 10*6/uL
million/uL > 10*6/uL
10+3/ul > 10*3/ul
10E3/uL > 10*3/uL
x10E3/uL > 10*3/uL
x10(3)/mcL > 10*3/uL
10*3/UL > 10*3/uL
10^3/mcL > 10^3/uL
CELLS/MCL > {cells}/uL
/hpf > /[HPF]
# /hpf > {#}/[HPF]
mL/min/1.73m2 > mL/min/{1.73_m2}
mL/min/1.73 m² > mL/min/{1.73_m2}
mL/min/1.73 > mL/min/{1.73_m2}
mm/hr > mm/h
sec > s
years > a
Day(s) > d
tab(s) > {tbl}
TABLETS > {tbl}
puffs > {puff}
gtt > [drp]
mg/actuat > mg/{actuat}
mOsm/kg > mosm/kg
°F > [degF]
pH > [pH]
ft > [ft_i]
bpm > {beats}/min
u/L > U/L
PERCENT > %`), "\n") {
		unit, want, _ := strings.Cut(line, " > ")
		if code := ucum.Code(unit); code != want || ucum.Code(want) != want {
			t.Errorf("%s becomes %q, want %s, whose own code is %q", unit, code, want, ucum.Code(want))
		}
	}
}

func TestCodeReturnsEmptyStringWhenUnitIsAmbiguous(t *testing.T) {
	t.Parallel()
	for unit := range strings.FieldsSeq(
		`K C F H S T A P R B u AU EA PT GA PM MV MW MBQ MCI M D units Units oz cap dose pc hs pt ct Gal MIU mg/K C/min ` +
			`each of 1.73.m2 mg/H K/L`) {
		if code := ucum.Code(unit); code != "" {
			t.Errorf("%s becomes %s", unit, code)
		}
	}
}

// Megagauss, megalitre, petagauss and similar units are valid UCUM, but no sender who writes in capitals means them.
func TestCodeNeverInterpretsCapitalsAsLargePrefix(t *testing.T) {
	t.Parallel()
	for prefix := range strings.FieldsSeq("Y Z E P T G M") {
		for atom := range strings.FieldsSeq("G L U A H S F C T K B V W N J R P") {
			for _, rest := range []string{"", "/ML", "/L", "/KG", "2", "{x}"} {
				if code := ucum.Code(prefix + atom + rest); strings.HasPrefix(code, prefix) {
					t.Errorf("%s%s%s becomes %s", prefix, atom, rest, code)
				}
			}
		}
	}
}

func FuzzCode(f *testing.F) {
	for _, unit := range []string{"mg", "K/uL", "x10(3)/uL", "MM[HG]", "{tbl}", "(m/s).{a}", "10*-3", "1.73m2"} {
		f.Add(unit)
	}
	f.Fuzz(func(t *testing.T, unit string) {
		if code := ucum.Code(unit); code != "" && ucum.Code(code) != code {
			t.Errorf("%q becomes %q, which is not UCUM", unit, code)
		}
	})
}

func BenchmarkCode(b *testing.B) {
	for _, unit := range []string{"mg", "mL/min/{1.73_m2}", "MG/ML", "tablet(s)"} {
		b.Run(strings.ReplaceAll(unit, "/", "_"), func(b *testing.B) {
			for b.Loop() {
				ucum.Code(unit)
			}
		})
	}
}
