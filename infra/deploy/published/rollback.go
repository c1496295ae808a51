package published

import (
	"context"
	"fmt"
	"slices"
)

// Move is a function's change from one version to another.
type Move struct {
	Function Function
	To       string // version number
}

// Plan returns the moves that make a release live, and the functions that did not exist in the release. Functions that
// already run the release need no move. The release must be one of Releases.
func (s *Stack) Plan(release string) (moves []Move, absent []Function) {
	for _, f := range s.Functions {
		v, ok := f.version(release)
		switch {
		case !ok:
			absent = append(absent, f)
		case v.Number != f.Live || f.isSplit:
			moves = append(moves, Move{f, v.Number})
		}
	}
	return moves, absent
}

// Apply makes the moves, and then reads the aliases again to check that each refers to its new version only. done is
// called after each move.
func (s *Stack) Apply(ctx context.Context, moves []Move, done func(Move)) error {
	for i, m := range moves {
		if err := s.lambda.point(ctx, m.Function.name, live, m.To); err != nil {
			return fmt.Errorf("%d of %d functions were moved: %w", i, len(moves), err)
		}
		done(m)
	}
	for _, m := range moves {
		aliases, err := s.lambda.aliases(ctx, m.Function.name)
		if err != nil {
			return fmt.Errorf("all functions were moved, but can't be checked: %w", err)
		}
		if !slices.ContainsFunc(aliases, func(a aliasConfiguration) bool {
			return a.Name == live && a.FunctionVersion == m.To &&
				(a.RoutingConfig == nil || len(a.RoutingConfig.AdditionalVersionWeights) == 0)
		}) {
			return fmt.Errorf("%s was moved to version %s, but its alias differs: another deployment may be running",
				m.Function.ID, m.To)
		}
	}
	return nil
}
