package ccda

// ReadInPieces makes a set read documents in pieces of so many nodes, however small the documents are.
func (s *Set) ReadInPieces(nodes int) { s.pieces = nodes }
