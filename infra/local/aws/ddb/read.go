package ddb

// readInput is GetItem.
type readInput struct {
	expressionAttributes

	TableName            string
	Key                  item
	ProjectionExpression expression

	AttributesToGet        []string
	ReturnConsumedCapacity string
}

type itemReply struct {
	Item item `json:",omitzero"`
}

func (s *Server) getItem(in *readInput) (any, error) {
	if err := absent(map[string]bool{"ReturnConsumedCapacity": isAsked(in.ReturnConsumedCapacity)}); err != nil {
		return nil, err
	}
	paths, err := s.readPaths(in.expressionAttributes, in.ProjectionExpression, in.AttributesToGet)
	if err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	rows, err := s.rowsOf(in.TableName, []item{in.Key})
	if err != nil {
		return nil, err
	}
	return itemReply{project(rows[0], paths)}, nil
}

// readPaths parses the projection of a read that has no other expression.
func (s *Server) readPaths(in expressionAttributes, projection expression, legacy []string) ([]path, error) {
	if err := absent(map[string]bool{"AttributesToGet": legacy != nil}); err != nil {
		return nil, err
	}
	scope, err := s.scope(in, projection)
	if err != nil {
		return nil, err
	}
	paths, err := scope.projection(projection)
	if err != nil {
		return nil, err
	}
	return paths, scope.checkUsed()
}
