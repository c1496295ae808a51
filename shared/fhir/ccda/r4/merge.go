package r4

import (
	"reflect"
	"slices"
	"strings"
)

// maxCodings bounds the codings that others add to a concept: nobody has as many names for one thing.
const maxCodings = 100

// Filler makes one of resources of the same type and id. It remembers what is in their long lists, so that a resource
// that is repeated many times takes no longer each time. The zero value is ready.
type Filler struct{ known map[any]*members }

// Fill gives a resource what another of the same type and id has and it has not: members that are missing, codings of
// the same concept, and elements of the lists that are marked for it (names, identifiers, notes). Other lists are kept
// whole, since two doses from two documents are not two doses. The source stays that of into. Elements are shared, so
// other is not to be used again.
func (f *Filler) Fill(into, other Resource) {
	if endsActive(into, other) {
		c, _ := other.(*Condition)
		c.Abatement, c.AbatementString, c.AbatementAbsent = "", "", nil
	}
	f.walk(reflect.ValueOf(into).Elem(), reflect.ValueOf(other).Elem())
}

// Agree reports whether Fill would leave out nothing of what two resources of a type say: that they do not contradict
// each other.
func Agree(a, b Resource) bool {
	return !endsActive(a, b) && !endsActive(b, a) &&
		(*Filler)(nil).walk(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem())
}

// endsActive reports whether a resource is a condition that is active, and another one says when it ended (con-4).
func endsActive(active, ended Resource) bool {
	a, okA := active.(*Condition)
	e, okE := ended.(*Condition)
	if !okA || !okE || e.Abatement == "" && e.AbatementString == "" && e.AbatementAbsent == nil {
		return false
	}
	const system = "http://terminology.hl7.org/CodeSystem/condition-clinical"
	return a.ClinicalStatus.Has(system, "active", "recurrence", "relapse")
}

// walk reports whether two values agree. A nil Filler fills nothing.
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
		case field.Tag.Get("merge") == "first": // who says so, and not what it is
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

// choices names the choices (value[x]) for which some member is set, so that no second one is.
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

// same reports whether two values say the same. Concepts that share a coding do, and complete each other.
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

// samePeriod reports whether two periods say the same: one that is still open may be closed by the other, and the day
// of a time is the same as the time.
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

// finer gives the one of two times that says more, if the other says the same with less digits or nothing.
func finer(a, b string) (string, bool) {
	if strings.HasPrefix(b, a) {
		return b, true
	}
	return a, strings.HasPrefix(a, b)
}

// Has reports whether a concept has a code.
func (c *CodeableConcept) Has(system string, codes ...string) bool {
	return c != nil && slices.ContainsFunc(c.Coding, func(has Coding) bool {
		return has.System == system &&
			slices.Contains(codes, has.Code)
	})
}
