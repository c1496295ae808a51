package r4

import (
	"reflect"
	"slices"
	"strings"
)

// maxCodings limits the codings that other resources may add to a concept. In practice, concepts have fewer codings.
const maxCodings = 100

// Filler merges resources of the same type and id. It caches the elements of long lists so that each repetition of a
// resource is merged in constant time. The zero value is ready to use.
type Filler struct{ known map[any]*members }

// Fill completes a resource with data from another one of the same type and id. It adds missing members, missing
// codings of the same concept, and missing elements of lists tagged for merging (names, identifiers, notes). Other
// lists are not merged, because two records of the same dose, for example, don't mean two doses. Fill does not change
// the source of into. Afterwards, the two resources share elements, so other must not be used again.
func (f *Filler) Fill(into, other Resource) {
	if endsActive(into, other) {
		c, _ := other.(*Condition)
		c.Abatement, c.AbatementString, c.AbatementAbsent = "", "", nil
	}
	f.walk(reflect.ValueOf(into).Elem(), reflect.ValueOf(other).Elem())
}

// Agree reports whether Fill would merge two resources of the same type without losing data.
func Agree(a, b Resource) bool {
	return !endsActive(a, b) && !endsActive(b, a) &&
		(*Filler)(nil).walk(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem())
}

// endsActive reports whether one resource is an active condition and the other states that the condition has ended
// (con-4).
func endsActive(active, ended Resource) bool {
	a, okA := active.(*Condition)
	e, okE := ended.(*Condition)
	if !okA || !okE || e.Abatement == "" && e.AbatementString == "" && e.AbatementAbsent == nil {
		return false
	}
	const system = "http://terminology.hl7.org/CodeSystem/condition-clinical"
	return a.ClinicalStatus.Has(system, "active", "recurrence", "relapse")
}

// walk reports whether two values agree. If f is not nil, walk also fills in missing parts.
func (f *Filler) walk(into, other reflect.Value) (agree bool) {
	agree = true
	fill := f != nil
	taken := choices(into)
	for i := range into.NumField() {
		field, a, b := into.Type().Field(i), into.Field(i), other.Field(i)
		choice := field.Tag.Get("choice")
		switch {
		case field.Anonymous:
			agree = f.walk(a, b) && agree
		case field.Name == "ID" || field.Name == "Text" || b.IsZero():
		case field.Name == "Meta":
			if fill {
				f.fillMeta(a, b)
			}
		case a.IsZero() && choice != "" && slices.Contains(taken, choice):
			agree = false
		case a.IsZero():
			if fill {
				a.Set(b)
			}
		case field.Tag.Get("merge") == "first": // The member describes the source rather than the fact.
		case field.Tag.Get("merge") == "union":
			if fill {
				f.union(a, b)
			}
		default:
			agree = same(a, b, fill) && agree
		}
	}
	return agree
}

// choices returns those choice elements (value[x]) that have a value; Fill must not add another value to them.
func choices(of reflect.Value) []string {
	var taken []string
	for i := range of.NumField() {
		if choice := of.Type().Field(i).Tag.Get("choice"); choice != "" && !of.Field(i).IsZero() {
			taken = append(taken, choice)
		}
	}
	return taken
}

func (f *Filler) fillMeta(into, other reflect.Value) {
	a, okA := reflect.TypeAssert[*Meta](into)
	b, okB := reflect.TypeAssert[*Meta](other)
	switch {
	case !okA || !okB:
	case a == nil:
		into.Set(other)
	default:
		f.union(reflect.ValueOf(&a.Tag).Elem(), reflect.ValueOf(&b.Tag).Elem())
	}
}

// same reports whether two values have the same meaning. Concepts with a common coding have the same meaning and
// complete each other.
func same(into, other reflect.Value, fill bool) bool {
	if reflect.DeepEqual(into.Interface(), other.Interface()) {
		return true
	}
	if p, ok := reflect.TypeAssert[*Period](into); ok {
		return samePeriod(p, other.Interface(), fill)
	}
	a, okA := reflect.TypeAssert[*CodeableConcept](into)
	b, okB := reflect.TypeAssert[*CodeableConcept](other)
	if !okA || !okB || !slices.ContainsFunc(b.Coding, func(c Coding) bool { return a.Has(c.System, c.Code) }) {
		return false
	}
	for _, more := range b.Coding {
		if fill && len(a.Coding) < maxCodings && !a.Has(more.System, more.Code) {
			a.Coding = append(a.Coding, more)
		}
	}
	return true
}

// samePeriod reports whether two periods are compatible. An open period may be closed by the other period's end. A date
// is compatible with a time on the same day.
func samePeriod(into *Period, other any, fill bool) bool {
	b, ok := other.(*Period)
	if !ok {
		return false
	}
	start, sameStart := finer(into.Start, b.Start)
	end, sameEnd := finer(into.End, b.End)
	if !sameStart || !sameEnd || (into.Start == "") != (b.Start == "") {
		return false
	}
	if fill {
		into.Start, into.End = start, end
	}
	return true
}

// finer returns the more precise of two times. Times match if they are equal, either is empty, or one is a less precise
// form of the other.
func finer(a, b string) (string, bool) {
	if strings.HasPrefix(b, a) {
		return b, true
	}
	return a, strings.HasPrefix(a, b)
}

// Has reports whether a concept has one of the given codes in a code system.
func (c *CodeableConcept) Has(system string, codes ...string) bool {
	return c != nil && slices.ContainsFunc(c.Coding, func(has Coding) bool {
		return has.System == system &&
			slices.Contains(codes, has.Code)
	})
}
