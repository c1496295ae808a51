package cda

// Document is a parsed document with its indexes. It is not changed after it has been opened.
type Document struct {
	Root       *Node              // the ClinicalDocument element
	Narrative  map[string]*Node   // elements by their ID attribute
	Acts       map[string][]*Node // clinical statements by RealID
	PatientIDs map[string]bool    // the patient's ids, as IDKey spells them
	Zone       string             // the time zone of effectiveTime; empty if it has none
	Elements   int                // above the number of every element
}

// Open indexes a document.
func Open(root *Node) *Document {
	d := &Document{Root: root, Narrative: map[string]*Node{}, Acts: map[string][]*Node{}, PatientIDs: map[string]bool{}}
	if s, ok := ReadStamp(root.At("effectiveTime").Attr("value")); ok {
		d.Zone = s.Zone
	}
	for _, key := range PatientKeys(root) {
		d.PatientIDs[key] = true
	}
	for n := range root.Descendants() {
		d.Elements = int(n.Number) + 1
		if id := n.Attr("ID"); id != "" && d.Narrative[id] == nil {
			d.Narrative[id] = n
		}
		if IsStatement(n) {
			if key := RealID(n); key != "" {
				d.Acts[key] = append(d.Acts[key], n)
			}
		}
	}
	return d
}
