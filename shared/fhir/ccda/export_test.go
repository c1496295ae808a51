package ccda

// ReadInPieces makes a set read all documents in pieces with the given number of nodes, regardless of document size.
func (s *Set) ReadInPieces(nodes int) { s.pieces = nodes }
