package r4

import (
	"crypto/sha256"
	"reflect"
	"slices"
	"strconv"
)

const (
	// few is the maximum number of elements for which comparison is faster than hashing.
	few = 32
	// maxNames limits the number of names that other resources may add to a person, because pairwise comparison is
	// slow.
	maxNames = 100
)

// members holds a hash of each element of a list.
type members struct {
	keys []key
	has  map[key]bool
}

type key [sha256.Size]byte

// union appends to into those elements of other that into does not contain.
func (f *Filler) union(into, other reflect.Value) {
	_, areNames := reflect.TypeAssert[[]HumanName](into)
	switch {
	case reflect.DeepEqual(into.Interface(), other.Interface()):
	case areNames:
		compare(into, other, maxNames)
	case into.Len()+other.Len() <= few:
		compare(into, other, few)
	default:
		known, more := f.membersOf(into), f.membersOf(other)
		for i, key := range more.keys {
			if !known.has[key] {
				known.add(key)
				into.Set(reflect.Append(into, other.Index(i)))
			}
		}
		delete(f.known, other.Addr().Interface())
	}
}

// compare is like union, but compares elements pairwise and adds elements only while into has fewer than most.
func compare(into, other reflect.Value, most int) {
	for i := 0; i < other.Len() && into.Len() < most; i++ {
		known := false
		for j := range into.Len() {
			known = known || reflect.DeepEqual(into.Index(j).Interface(), other.Index(i).Interface()) ||
				sameName(into.Index(j), other.Index(i))
		}
		if !known {
			into.Set(reflect.Append(into, other.Index(i)))
		}
	}
}

func (f *Filler) membersOf(list reflect.Value) *members {
	at := list.Addr().Interface()
	m := f.known[at]
	if m != nil && len(m.keys) == list.Len() {
		return m
	}
	m = &members{has: make(map[key]bool, list.Len())}
	for i := range list.Len() {
		m.add(sha256.Sum256(spell(nil, list.Index(i))))
	}
	if f.known == nil {
		f.known = map[any]*members{}
	}
	f.known[at] = m
	return m
}

func (m *members) add(k key) {
	m.keys = append(m.keys, k)
	m.has[k] = true
}

// spell appends an encoding of v to a byte slice. Two values have the same encoding if and only if they are deeply
// equal.
func spell(to []byte, v reflect.Value) []byte {
	switch kind := v.Kind(); {
	case kind == reflect.Struct:
		for _, member := range v.Fields() {
			to = spell(to, member)
		}
	case (kind == reflect.Pointer || kind == reflect.Slice) && v.IsNil():
		to = append(to, '-')
	case kind == reflect.Pointer:
		to = spell(append(to, '+'), v.Elem())
	case kind == reflect.Slice:
		to = count(append(to, '+'), v.Len())
		for i := range v.Len() {
			to = spell(to, v.Index(i))
		}
	case kind == reflect.String:
		to = append(count(to, v.Len()), v.String()...)
	case v.CanInt():
		to = count(to, int(v.Int()))
	case v.CanUint(): // an unsigned number, such as a byte
		to = strconv.AppendUint(to, v.Uint(), 16)
		to = append(to, ' ')
	default:
		to = append(strconv.AppendBool(to, v.Bool()), ' ')
	}
	return to
}

func count(to []byte, n int) []byte { return append(strconv.AppendInt(to, int64(n), 10), ' ') }

// sameName reports whether two names are the same, even if parts are missing, and copies the more complete one to into.
func sameName(into, other reflect.Value) bool {
	a, okA := reflect.TypeAssert[HumanName](into)
	b, okB := reflect.TypeAssert[HumanName](other)
	switch {
	case !okA || !okB:
		return false
	case b.covers(a):
		into.Set(other)
		return true
	}
	return a.covers(b)
}

func (n HumanName) covers(o HumanName) bool {
	within := func(all, some []string) bool {
		return !slices.ContainsFunc(some, func(part string) bool { return !slices.Contains(all, part) })
	}
	return n.Family == o.Family && n.Family != "" && (o.Use == "" || o.Use == n.Use) && (o.Text == "" ||
		o.Text == n.Text) && o.Period == nil && o.Extension == nil &&
		within(n.Given, o.Given) && within(n.Prefix, o.Prefix) && within(n.Suffix, o.Suffix)
}
