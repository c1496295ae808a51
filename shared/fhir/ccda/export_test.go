package ccda

// ReadInPieces makes a set read every document, whatever its size, in pieces with the given number of nodes.
func (s *Set) ReadInPieces(nodes int) { s.pieces = nodes }
