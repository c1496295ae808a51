package fhir

// Subject is a resource's reference to its patient, in the member subject, patient, beneficiary, individual, for or
// candidate. This list contains the member's names in all releases (FHIR R4 compartmentdefinition-patient.html).
type Subject struct {
	Member     int    // number of the member that contains the reference, from 1; a member may be a list
	Reference  string // literal reference; empty if missing
	Type       string // Reference.type; empty if not stated
	Identifier Identifier
	Unreadable bool // whether the reference is ambiguous or unreadable
}

// Identifier is a business identifier (FHIR R4 datatypes.html#Identifier). Both parts may be empty.
type Identifier struct{ System, Value string }

// subject parses a resource's subject, which is a reference or a list of references, and adds the references that
// collect would add.
func (s *scanner) subject(depth int, name word, member int, found *Resource) error {
	switch s.peek() {
	case '{':
		one := Subject{Member: member}
		references := 0
		err := s.object(depth, func(inner word) error {
			switch string(inner.text()) {
			case "reference":
				references++
				if s.peek() != '"' {
					return s.skip(depth + 1)
				}
				text, err := s.string()
				note(inner, text, nil, found)
				one.Reference = string(text.upTo(MaxAddress))
				return err
			case "type":
				text, err := s.stringOr(depth + 1)
				one.Type = text
				return err
			case "identifier":
				return s.identifier(depth+1, inner, &one.Identifier, found)
			case "display":
				one.Unreadable = true
			}
			return s.collect(depth+1, inner, nil, found)
		})
		switch {
		case references == 1 && one.Reference != "", references == 0 && one.Identifier.Value != "":
			one.Unreadable = false
		case references > 0:
			one.Reference, one.Unreadable = "", true
		}
		if err == nil && (one.Unreadable || one.Reference != "" || one.Identifier.Value != "") {
			addSubject(found, one)
		}
		return err
	case '[':
		return s.array(depth, func() error { return s.subject(depth+1, name, member, found) })
	case '"':
		addSubject(found, Subject{Member: member, Unreadable: true})
	}
	return s.collect(depth, name, nil, found)
}

// maxSubjects limits the number of subjects in one resource. In practice, resources have one subject, except Accounts,
// which have a few.
const maxSubjects = 100

// addSubject stores a subject. If a resource has more than maxSubjects subjects, its owner can't be determined.
func addSubject(r *Resource, one Subject) {
	if len(r.Subjects) == maxSubjects {
		r.Subjects[maxSubjects-1].Unreadable, r.Subjects[maxSubjects-1].Member = true, one.Member
		return
	}
	r.Subjects = append(r.Subjects, one)
}

// identifier parses an Identifier, whose assigner may contain a reference.
func (s *scanner) identifier(depth int, name word, into *Identifier, found *Resource) error {
	if s.peek() != '{' {
		return s.collect(depth, name, nil, found)
	}
	return s.object(depth, func(inner word) (err error) {
		switch string(inner.text()) {
		case "system":
			into.System, err = s.stringOr(depth + 1)
			return err
		case "value":
			into.Value, err = s.stringOr(depth + 1)
			return err
		}
		return s.collect(depth+1, inner, nil, found)
	})
}
