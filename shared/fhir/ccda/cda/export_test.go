package cda

// Attributes returns the attributes of an element as name=value, in the order of the document.
func (n *Node) Attributes() []string {
	list := make([]string, 0, len(n.attrs))
	for _, a := range n.attrs {
		list = append(list, a.name+"="+a.value)
	}
	return list
}
