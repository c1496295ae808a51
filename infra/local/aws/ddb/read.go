package ddb

type readInput struct {
	leftOut

	TableName string
	Key       item
}

// leftOut are the parameters of a read that are refused: nobody reads parts of an item.
type leftOut struct {
	ProjectionExpression     string
	ExpressionAttributeNames map[string]string
	AttributesToGet          []string
	ReturnConsumedCapacity   string
}

func (in leftOut) check() error {
	return absent(map[string]bool{
		"ProjectionExpression":     in.ProjectionExpression != "",
		"ExpressionAttributeNames": in.ExpressionAttributeNames != nil,
		"AttributesToGet":          in.AttributesToGet != nil,
		"ReturnConsumedCapacity":   isAsked(in.ReturnConsumedCapacity),
	})
}

func (s *Server) getItem(in *readInput) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	rows, err := s.rowsOf(in.TableName, []item{in.Key})
	if err != nil {
		return nil, err
	}
	return itemReply{"Item", rows[0]}, nil
}
