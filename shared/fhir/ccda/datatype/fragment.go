package datatype

import "recordbridge/shared/fhir/ccda/cda"

// writeFragment writes a narrative element as self-contained XHTML. A table row is written with the table's header, a
// table or list in full, and any other element without its tags (C-CDA on FHIR, "Narrative Text": C-CDA Entry/Text).
func writeFragment(b textWriter, n *cda.Node) {
	switch n.Name {
	case "tr", "thead", "tbody", "tfoot":
		table := n.Parent
		for table != nil && table.Name != "table" {
			table = table.Parent
		}
		writeText(b, "<table>")
		if head := table.At("thead"); head != nil && head.Number != n.Number && n.Parent.Number != head.Number {
			writeXHTML(b, head)
		}
		if n.Name == "tr" {
			writeText(b, "<tbody>")
			writeXHTML(b, n)
			writeText(b, "</tbody>")
		} else {
			writeXHTML(b, n)
		}
		writeText(b, "</table>")
	case "table", "list":
		writeXHTML(b, n)
	default:
		writeInner(b, n)
	}
}
