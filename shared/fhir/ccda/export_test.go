package ccda

// ReadInPieces makes a set read documents in pieces of the given number of nodes, however small the documents are.
func (s *Set) ReadInPieces(nodes int) { s.pieces = nodes }
