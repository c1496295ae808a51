package lambdarun

import (
	"context"
	"fmt"
	"io"
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

// Process holds a function's environment. Run creates the Process in production, and each test creates its own.
type Process struct {
	AWS    aws.Config // shared by all SDK clients
	Logger *slog.Logger
	Now    func() time.Time
	Dir    string // directory for the process's own files; need not exist
	Root   string // directory of the binary and the files deployed with it
}

// Handler is the type of the handlers that HTTP, SQS and Schedule return.
type Handler interface {
	HTTPHandler | SQSHandler | ScheduleHandler
}

// Run is the main function of every Lambda function. It loads the environment, calls build once, handles events and
// never returns. If build fails, the process logs the reason and exits, and Lambda starts a new process. Only
// bootstrap/main.go calls Run, either directly or through package outbound.
func Run[E any, H Handler](build func(context.Context, E, Process) (H, error)) {
	ctx, logger := context.Background(), newLogger(os.Stdout)
	handler, err := Start(ctx, logger, func(ctx context.Context) (H, error) { return start(ctx, logger, build) })
	if err != nil {
		os.Exit(1)
	}
	lambda.Start(handler)
}

// Start calls build, which creates a process's handler, and returns its result. Start logs build's error in the line
// start.failed, and AWS's failed attempts as metrics even if build succeeds.
func Start[H any](ctx context.Context, logger *slog.Logger, build func(context.Context) (H, error)) (H, error) {
	within, line := logx.Begin(ctx)
	handler, err := build(within)
	switch {
	case err != nil:
		logx.Fail(within, err)
		line.Emit(ctx, logger, "start.failed")
	case !line.IsEmpty():
		line.Emit(ctx, logger, "start.retried")
	}
	return handler, err
}

// environment holds the variables common to all functions.
type environment struct {
	Service string `env:"SERVICE,required"`
	Release string `env:"RELEASE"`
}

// newLogger returns a logger that adds the stack and the release to every line. If the environment is invalid, the
// lines name neither, and start reports the error.
func newLogger(to io.Writer) *slog.Logger {
	logger := logx.New(to)
	own, err := config.Load[environment]()
	if err != nil {
		return logger
	}
	logger = logger.With(slog.String(metric.Stack, own.Service))
	if own.Release == "" {
		return logger
	}
	return logger.With(slog.String("release", own.Release))
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
