// Command bootstrap is the listevents Lambda function.
package main

import (
	"context"
	"log/slog"
	"time"

	"recordbridge/functions/listevents/wiring"
	"recordbridge/shared/config"
	"recordbridge/shared/lambdarun"
)

func main() { lambdarun.Start(start) }

func start(ctx context.Context, logger *slog.Logger) (lambdarun.HTTPHandler, error) {
	env, err := config.Load[wiring.Environment]()
	if err != nil {
		return nil, err
	}
	cfg, err := config.AWS()
	if err != nil {
		return nil, err
	}
	return wiring.Build(ctx, env, config.Process{AWS: cfg, Logger: logger, Now: time.Now})
}
