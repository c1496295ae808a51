package cda

// Attributes returns an element's attributes as name=value strings, in document order.
func (n *Node) Attributes() []string {
	list := make([]string, 0, len(n.attrs))
	for _, a := range n.attrs {
		list = append(list, a.name+"="+a.value)
	}
	return list
}
