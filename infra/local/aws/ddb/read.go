package ddb

import "errors"

// readInput is GetItem and each element of TransactGetItems.
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

type transactGetInput struct {
	TransactItems          []struct{ Get *readInput }
	ReturnConsumedCapacity string
}

type transactGetReply struct{ Responses []itemReply }

func (s *Server) transactGetItems(in *transactGetInput) (any, error) {
	if n := len(in.TransactItems); n == 0 || n > maxTransactionItems {
		return nil, invalidf("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length between 1 and %d", maxTransactionItems)
	}
	if err := absent(map[string]bool{"ReturnConsumedCapacity": isAsked(in.ReturnConsumedCapacity)}); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	seen := map[rowAddress]bool{}
	reasons := noReasons(len(in.TransactItems))
	out := transactGetReply{Responses: make([]itemReply, 0, len(in.TransactItems))}
	size := 0
	for i, element := range in.TransactItems {
		get := element.Get
		if get == nil {
			return nil, invalidf("TransactItems can only contain Get")
		}
		paths, err := s.readPaths(get.expressionAttributes, get.ProjectionExpression, get.AttributesToGet)
		if err != nil {
			return nil, err
		}
		t, err := s.table(get.TableName)
		if err != nil {
			return nil, err
		}
		key, err := t.keyOf(get.Key)
		if _, misfit := errors.AsType[mismatchError](err); misfit {
			reasons[i].take(err)
			continue
		}
		if err != nil {
			return nil, err
		}
		at := rowAddress{t, key}
		if seen[at] {
			return nil, invalidf(repeatedItem)
		}
		seen[at] = true
		if s.inFlight[at] {
			reasons[i] = cancellationReason{Code: reasonConflict, Message: ongoing}
		}
		it := t.rows.get(key)
		size += it.size()
		out.Responses = append(out.Responses, itemReply{project(it, paths)})
	}
	if err := cancelled(reasons); err != nil {
		return nil, err
	}
	if size > maxTransactionBytes {
		return nil, errTooLarge()
	}
	return out, nil
}
