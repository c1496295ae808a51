package datatype

import (
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
)

// Fragment returns an element of the narrative as XHTML that can be read by itself: a row of a table with the table's
// head, a table or list whole, of any other element the content (C-CDA on FHIR, "Narrative Text": C-CDA Entry/Text).
func Fragment(n *cda.Node) string {
	var b strings.Builder
	switch n.Name {
	case "tr", "thead", "tbody", "tfoot":
		table := n.Parent
		for table != nil && table.Name != "table" {
			table = table.Parent
		}
		b.WriteString("<table>")
		if head := table.At("thead"); head != nil && head.Number != n.Number && n.Parent.Number != head.Number {
			writeXHTML(&b, head)
		}
		if n.Name == "tr" {
			b.WriteString("<tbody>")
			writeXHTML(&b, n)
			b.WriteString("</tbody>")
		} else {
			writeXHTML(&b, n)
		}
		b.WriteString("</table>")
	case "table", "list":
		writeXHTML(&b, n)
	default:
		writeInner(&b, n)
	}
	return b.String()
}
