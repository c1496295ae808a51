package lambdarun

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"

	"recordbridge/shared/platform/config"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

// Process is what a function is wired to: production's is made by Run, a test's by the test, and everything in
// between is the same code.
type Process struct {
	AWS    aws.Config // for every client of the SDK
	Logger *slog.Logger
	Now    func() time.Time
	Dir    string // where the process may keep files for itself; need not exist
	Root   string // folder of the binary and of what was deployed beside it
}

// Handler is what a function can be: the result of HTTP, SQS or Schedule.
type Handler interface {
	HTTPHandler | SQSHandler | ScheduleHandler
}

// Run is the main of a function, and does not return: it fills the function's environment, builds it and serves its
// events. build runs once per cold start; when it fails, the process logs why and ends, and Lambda tries again with a
// new one. Only bootstrap/main.go calls it, or what stands between (package outbound).
func Run[E any, H Handler](build func(context.Context, E, Process) (H, error)) {
	ctx, logger := context.Background(), logx.New(os.Stdout)
	if own, err := config.Load[environment](); err == nil { // start reads it again and tells what is wrong with it
		logger = logger.With(slog.String(metric.Stack, own.Service))
	}
	handler, err := start(ctx, logger, build)
	if err != nil {
		logger.LogAttrs(ctx, slog.LevelError, "start.failed", slog.String("cause", err.Error()))
		os.Exit(1)
	}
	lambda.Start(handler)
}

// environment is what every function reads, whatever it does: the name of its stack.
type environment struct {
	Service string `env:"SERVICE,required"`
}

func start[E any, H Handler](ctx context.Context, logger *slog.Logger,
	build func(context.Context, E, Process) (H, error),
) (H, error) {
	env, err := config.Load[E]()
	if err != nil {
		return nil, err
	}
	cfg, err := config.AWS()
	if err != nil {
		return nil, err
	}
	binary, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the binary: %w", err)
	}
	return build(ctx, env, Process{ //nolint:forbidigo // every function's clock
		AWS: cfg, Logger: logger, Now: time.Now,
		Dir:  filepath.Join(os.TempDir(), fmt.Sprintf("recordbridge-%d", os.Getuid())),
		Root: filepath.Dir(binary),
	})
}
