package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"

	"recordbridge/shared/tefca/sim/document"
)

// panel is a set of values that are measured together.
type panel struct {
	code     document.Code
	measures []measure
}

// measure defines a measured value by its minimum, step size, number of steps and reference range.
type measure struct {
	code, name, unit string
	from, step       float64
	steps            uint64
	low, high        string
}

func loinc(code, name string) document.Code {
	return document.Code{System: document.LOINC, Code: code, Name: name}
}

func metabolic() panel {
	return panel{loinc("24321-2", "Basic metabolic 2000 panel - Serum or Plasma"), []measure{
		{"2345-7", "Glucose [Mass/volume] in Serum or Plasma", "mg/dL", 72, 1, 40, "70", "99"},
		{"3094-0", "Urea nitrogen [Mass/volume] in Serum or Plasma", "mg/dL", 7, 1, 16, "7", "20"},
		{"2160-0", "Creatinine [Mass/volume] in Serum or Plasma", "mg/dL", 0.6, 0.1, 8, "0.6", "1.3"},
		{"2951-2", "Sodium [Moles/volume] in Serum or Plasma", "mmol/L", 133, 1, 12, "136", "145"},
		{"2823-3", "Potassium [Moles/volume] in Serum or Plasma", "mmol/L", 3.4, 0.1, 18, "3.5", "5.1"},
	}}
}

func lipids() panel {
	return panel{loinc("24331-1", "Lipid 1996 panel - Serum or Plasma"), []measure{
		{"2093-3", "Cholesterol [Mass/volume] in Serum or Plasma", "mg/dL", 150, 2, 50, "", "200"},
		{"2571-8", "Triglyceride [Mass/volume] in Serum or Plasma", "mg/dL", 80, 3, 40, "", "150"},
		{"2085-9", "Cholesterol in HDL [Mass/volume] in Serum or Plasma", "mg/dL", 36, 1, 30, "40", ""},
	}}
}

func blood() panel {
	return panel{loinc("58410-2", "CBC panel - Blood by Automated count"), []measure{
		{"718-7", "Hemoglobin [Mass/volume] in Blood", "g/dL", 11.8, 0.1, 40, "12.0", "16.0"},
		{"6690-2", "Leukocytes [#/volume] in Blood by Automated count", "10*3/uL", 4.1, 0.1, 90, "4.3", "10.8"},
		{"777-3", "Platelets [#/volume] in Blood by Automated count", "10*3/uL", 160, 2, 100, "150", "400"},
	}}
}

func sugar() panel {
	return panel{loinc("55454-3", "Hemoglobin A1c in Blood"), []measure{
		{"4548-4", "Hemoglobin A1c/Hemoglobin.total in Blood", "%", 6.1, 0.1, 20, "", "5.7"},
	}}
}

// vitals returns the panel of measurements taken at every visit. If hypertension is set, the blood pressure is higher.
func vitals(hypertension bool) panel {
	systolic := measure{"8480-6", "Systolic blood pressure", "mm[Hg]", 108, 1, 20, "90", "130"}
	if hypertension {
		systolic.from = 128
	}
	return panel{
		loinc("74728-7", "Vital signs, weight, height, head circumference, oxygen saturation and BMI panel"),
		[]measure{
			systolic,
			{"8462-4", "Diastolic blood pressure", "mm[Hg]", 66, 1, 18, "60", "80"},
			{"8867-4", "Heart rate", "/min", 58, 1, 28, "60", "100"},
			{"9279-1", "Respiratory rate", "/min", 12, 1, 7, "12", "20"},
			{"8310-5", "Body temperature", "Cel", 36.3, 0.1, 9, "", ""},
			{"59408-5", "Oxygen saturation in Arterial blood by Pulse oximetry", "%", 94, 1, 6, "95", ""},
			{"29463-7", "Body weight", "kg", 62, 0.5, 30, "", ""},
		},
	}
}

// take returns the panel's measurements for a visit. The same panel and visit always yield the same measurements.
func (p panel) take(id func(...string) document.ID, noted document.Noted) document.Panel {
	taken := document.Panel{ID: id(p.code.Code), Code: p.code, Noted: noted}
	for _, m := range p.measures {
		one := document.Measured{
			ID: id(p.code.Code, m.code), Code: loinc(m.code, m.name), Unit: m.unit, Low: m.low,
			High: m.high,
		}
		value := m.from + m.step*float64(draw(m.steps, one.ID.Root))
		one.Value = strings.TrimSuffix(strconv.FormatFloat(value, 'f', 1, 64), ".0")
		one.Usual = usual(one.Value, m.low, m.high)
		taken.Measured = append(taken.Measured, one)
	}
	return taken
}

// usual compares a value with its reference range and returns N, L or H. It returns "" if there is no reference range.
// Non-numeric bounds are ignored.
func usual(value, low, high string) string {
	number := func(text string, otherwise float64) float64 {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n
		}
		return otherwise
	}
	at := number(value, 0)
	switch {
	case low+high == "":
		return ""
	case at < number(low, at):
		return "L"
	case at > number(high, at):
		return "H"
	}
	return "N"
}

// draw returns a pseudo-random number below n. The same arguments always yield the same number.
func draw(n uint64, words ...string) uint64 {
	sum := sha256.Sum256([]byte(strings.Join(words, "|")))
	return binary.BigEndian.Uint64(sum[:]) % n
}
