package main

import (
	"context"

	"recordbridge/infra/local/runfile"
)

// seed creates what a person needs for trying things out, and returns what stands in run.json.
func seed(ctx context.Context, s *stack) (runfile.Run, error) {
	return s.run, ctx.Err()
}
