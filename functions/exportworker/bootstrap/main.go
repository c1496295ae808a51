// Command bootstrap is the exportworker Lambda function.
package main

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"recordbridge/functions/exportworker/wiring"
	"recordbridge/shared/config"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/safehttp"
)

// memoryLimit is how much memory the Go runtime aims to stay below, in bytes: what an export keeps at most (docs/architecture.md,
// Bounds) with room for the collector to work in. The function has far more; a record must not need it.
const memoryLimit = 72 << 20

func main() {
	debug.SetMemoryLimit(memoryLimit)
	lambdarun.Start(start)
}

func start(ctx context.Context, logger *slog.Logger) (lambdarun.SQSHandler, error) {
	env, err := config.Load[wiring.Environment]()
	if err != nil {
		return nil, err
	}
	cfg, err := config.AWS()
	if err != nil {
		return nil, err
	}
	return wiring.Build(ctx, env, config.Process{
		AWS: cfg, Logger: logger, Now: time.Now,
		HTTP: safehttp.New(safehttp.Options{Allow: env.AllowedPrivateRanges}),
	})
}
