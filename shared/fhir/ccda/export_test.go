package ccda

// ReadInPieces makes a set read every document in pieces with the given number of nodes, regardless of its size.
func (s *Set) ReadInPieces(nodes int) { s.pieces = nodes }
