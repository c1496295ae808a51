package ccda_test

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// element is an editable element that is independent of the converter's tree.
type element struct {
	name     string
	attrs    []xml.Attr
	children []*element
	text     string // text of an element without children
	parent   *element
	number   string // the statement's position in document order
}

func readElements(tb testing.TB, document string) *element {
	tb.Helper()
	decoder := xml.NewDecoder(strings.NewReader(document))
	root := &element{}
	open := root
	for {
		token, err := decoder.RawToken()
		if errors.Is(err, io.EOF) {
			return root.children[0]
		}
		if err != nil {
			tb.Fatal(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			child := &element{name: spelled(t.Name), attrs: slices.Clone(t.Attr), parent: open}
			open.children = append(open.children, child)
			open = child
		case xml.EndElement:
			open = open.parent
		case xml.CharData:
			open.text += string(t)
		}
	}
}

func spelled(name xml.Name) string {
	if name.Space == "" {
		return name.Local
	}
	return name.Space + ":" + name.Local
}

func (e *element) write(to *strings.Builder) {
	to.WriteString("<" + e.name)
	for _, a := range e.attrs {
		to.WriteString(" " + spelled(a.Name) + `="`)
		_ = xml.EscapeText(to, []byte(a.Value))
		to.WriteString(`"`)
	}
	to.WriteString(">")
	if len(e.children) == 0 {
		_ = xml.EscapeText(to, []byte(e.text))
	}
	for _, child := range e.children {
		child.write(to)
	}
	to.WriteString("</" + e.name + ">")
}

func (e *element) attr(name string) string {
	if e == nil {
		return ""
	}
	for _, a := range e.attrs {
		if spelled(a.Name) == name {
			return a.Value
		}
	}
	return ""
}

func (e *element) set(name, value string) {
	e.unset(name)
	e.attrs = append(e.attrs, xml.Attr{Name: xml.Name{Local: name}, Value: value})
}

func (e *element) unset(name string) {
	e.attrs = slices.DeleteFunc(e.attrs, func(a xml.Attr) bool { return spelled(a.Name) == name })
}

// child follows a path of element names. Each step selects the first matching element. child returns nil if the path
// matches nothing.
func (e *element) child(path ...string) *element {
	for _, name := range path {
		if e == nil {
			return nil
		}
		i := slices.IndexFunc(e.children, func(c *element) bool { return c.name == name })
		if i < 0 {
			return nil
		}
		e = e.children[i]
	}
	return e
}

// ensure returns the child with the given name, after appending it if it is missing.
func (e *element) ensure(name string) *element {
	if c := e.child(name); c != nil {
		return c
	}
	c := &element{name: name, parent: e}
	e.children = append(e.children, c)
	return c
}

func (e *element) remove(name string) {
	e.children = slices.DeleteFunc(e.children, func(c *element) bool { return c.name == name })
}

func (e *element) isStatement() bool {
	return slices.Contains([]string{
		"act", "encounter", "observation", "organizer", "procedure", "substanceAdministration", "supply",
	}, e.name)
}

// numberAll gives each statement a unique id. The ids of its devices and specimens contain the statement's number. It
// returns the statements in document order.
func numberAll(e *element, list []*element) []*element {
	if e.isStatement() {
		e.number = strconv.Itoa(len(list))
		e.identify("fuzz-" + e.number)
		for _, c := range e.children {
			if role := c.child("participantRole"); role != nil && role.child("playingDevice") != nil {
				role.identify("device-" + e.number)
			}
			if role := c.child("specimenRole"); role != nil {
				role.identify("specimen-" + e.number)
			}
		}
		list = append(list, e)
	}
	for _, c := range e.children {
		list = numberAll(c, list)
	}
	return list
}

func (e *element) identify(extension string) {
	e.remove("id")
	id := &element{name: "id", parent: e}
	id.set("root", "2.16.840.1.113883.19.77")
	id.set("extension", extension)
	e.children = slices.Insert(e.children, 0, id)
}

// edit is a change to a statement. The bytes of an edit select the statement, the kind of change and the variant.
type edit [3]byte

// edits decodes up to eight complete edits.
func edits(raw []byte) []edit {
	var list []edit
	for chunk := range slices.Chunk(raw, len(edit{})) {
		if len(chunk) == len(edit{}) && len(list) < 8 {
			list = append(list, edit(chunk))
		}
	}
	return list
}

const editKinds = 6

func pick[T any](variant byte, list ...T) T { return list[int(variant)%len(list)] }

func (by edit) apply(statements []*element) {
	if len(statements) == 0 {
		return
	}
	s := statements[int(by[0])%len(statements)]
	switch by[1] % editKinds {
	case 0:
		s.set("nullFlavor", pick(by[2], "NASK", "NI", "UNK", "NA", "MSK", "OTH", "ASKU", "NAV", "bogus"))
	case 1:
		s.set("negationInd", pick(by[2], "true", "1", "false", "TRUE"))
	case 2:
		editStatus(s, pick(
			by[2], "active", "completed", "aborted", "suspended", "cancelled", "new", "held", "nullified", "sleeping",
			"null", "none",
		))
	case 3:
		addStatusObservation(s, by[2])
	case 4:
		editTime(s, by[2])
	case 5:
		editName(s, by[2])
	}
}

func editStatus(s *element, code string) {
	s.remove("statusCode")
	if code == "none" {
		return
	}
	status := s.ensure("statusCode")
	if code == "null" {
		status.set("nullFlavor", "UNK")
		return
	}
	status.set("code", code)
}

// addStatusObservation adds or modifies a status observation.
func addStatusObservation(s *element, variant byte) {
	o := statusObservation(s)
	if o == nil {
		rel := &element{name: "entryRelationship", parent: s}
		rel.set("typeCode", "REFR")
		s.children = append(s.children, rel)
		o = rel.ensure("observation")
		o.set("classCode", "OBS")
		o.set("moodCode", "EVN")
		o.ensure("code").set("code", "33999-4")
		o.child("code").set("codeSystem", "2.16.840.1.113883.6.1")
	}
	o.remove("value")
	value := o.ensure("value")
	value.set("xsi:type", "CD")
	code := pick(variant, "55561003", "73425007", "413322009", "246455001", "277022003", "392521001", "")
	if code != "" {
		value.set("code", code)
		value.set("codeSystem", "2.16.840.1.113883.6.96")
	} else {
		value.set("nullFlavor", "UNK")
	}
	o.unset("negationInd")
	o.unset("nullFlavor")
	switch variant / 7 % 4 {
	case 1:
		o.set("negationInd", "true")
	case 2:
		o.set("nullFlavor", "UNK")
	}
}

func statusObservation(s *element) *element {
	for _, rel := range s.children {
		if o := rel.child("observation"); rel.name == "entryRelationship" && o.child("code").attr("code") == "33999-4" {
			return o
		}
	}
	return nil
}

func editTime(s *element, variant byte) {
	when := s.ensure("effectiveTime")
	when.children, when.text = nil, ""
	when.unset("value")
	when.unset("nullFlavor")
	low := pick(variant, "20120101", "20300101", "")
	high := pick(variant/3, "20150101", "20400101", "UNK", "NI", "NA", "")
	if variant/18%3 == 2 {
		if low != "" {
			when.set("value", low)
		}
		return
	}
	if low != "" {
		when.ensure("low").set("value", low)
	}
	switch high {
	case "":
	case "UNK", "NI", "NA":
		when.ensure("high").set("nullFlavor", high)
	default:
		when.ensure("high").set("value", high)
	}
}

// editName replaces the name of a statement's subject with a null name or a word that means "unknown".
func editName(s *element, variant byte) {
	for _, name := range []*element{
		s.child("participant", "participantRole", "playingEntity", "code"), s.child("value"),
		s.child("consumable", "manufacturedProduct", "manufacturedMaterial", "code"), s.child("code"),
	} {
		if name == nil || name.attr("code") == "33999-4" || name.attr("code") == "CONC" {
			continue
		}
		kind := name.attr("xsi:type")
		*name = element{name: name.name, parent: name.parent}
		if kind != "" {
			name.set("xsi:type", "CD")
		}
		name.set("nullFlavor", pick(variant, "UNK", "NI", "OTH"))
		if words := pick(variant/3, "", "Unknown", "No data recorded", "unsupported"); words != "" {
			name.ensure("originalText").text = words
		}
		return
	}
}
