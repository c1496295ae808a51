package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	"recordbridge/infra/local/engine"
)

const (
	image = "localstack/localstack:4.14.0" // last LocalStack version that does not require an auth token
	// insidePort is LocalStack's port inside its container.
	insidePort = "4566"
	startTime  = 3 * time.Minute
	pollEvery  = 200 * time.Millisecond
)

type instance struct {
	name    string // container name; also the name prefix of its functions' containers
	command *exec.Cmd
	stopIt  context.CancelFunc
	ended   chan struct{}
}

// startLocalStack starts LocalStack and waits until it responds. On success, the caller must stop the returned
// instance.
func startLocalStack(ctx context.Context, o options, host *engine.Engine, progress io.Writer) (*instance, error) {
	i := &instance{name: "recordbridge-localstack-" + port(o.aws), ended: make(chan struct{})}
	if err := i.removeContainers(ctx); err != nil { // containers left behind by an instance that was killed
		return nil, err
	}
	log, err := o.openLog("localstack")
	if err != nil {
		return nil, err
	}
	settings := o.settings(i.name, host)
	background, stop := context.WithCancel(context.WithoutCancel(ctx)) // lets LocalStack outlive its clients
	i.stopIt = stop
	if len(o.command) > 0 {
		i.command = program(background, settings, o.command...)
	} else {
		fmt.Fprintf(progress, "Starting %s\n", image)
		i.command = program(background, nil, o.container(i.name, settings)...)
	}
	i.command.Stdout, i.command.Stderr = log, log
	if err = i.command.Start(); err != nil {
		stop()
		return nil, errors.Join(fmt.Errorf("start LocalStack: %w", err), log.Close())
	}
	go func() {
		_ = errors.Join(i.command.Wait(), log.Close()) // error ignored, because LocalStack's exit status doesn't matter
		close(i.ended)
	}()
	if err = i.await(ctx, o); err != nil {
		return nil, errors.Join(err, i.stop(ctx, progress))
	}
	return i, nil
}

// settings returns LocalStack's environment variables (LocalStack's documentation, "Configuration").
func (o options) settings(name string, host *engine.Engine) []string {
	return []string{
		"GATEWAY_LISTEN=" + o.listenAt(host),
		"MAIN_CONTAINER_NAME=" + name,
		// address at which functions reach the API and the inbox
		"LAMBDA_DOCKER_FLAGS=--add-host localhost:" + host.Host.String(),
		"LAMBDA_IGNORE_ARCHITECTURE=1", // functions are built for this machine's architecture
		"LAMBDA_RUNTIME_ENVIRONMENT_TIMEOUT=60",
		"PROVIDER_OVERRIDE_CLOUDFORMATION=engine-legacy", // the newer engine can't update the stack
		// check immediately, rather than after a second, whether a function exists
		"CFN_NO_WAIT_ITERATIONS=1000",
		"EXTRA_CORS_ALLOWED_ORIGINS=" + o.publicURL(),
		"DYNAMODB_IN_MEMORY=1",
		"DISABLE_EVENTS=1", // no usage statistics
	}
}

// listenAt returns the address on which LocalStack listens. Inside a container, LocalStack listens on all interfaces.
// Outside a container, only this machine and its containers can reach LocalStack.
func (o options) listenAt(host *engine.Engine) string {
	if len(o.command) == 0 {
		return "0.0.0.0:" + insidePort
	}
	if !ofThisMachine(host.Host) {
		return o.aws
	}
	return o.aws + "," + net.JoinHostPort(host.Host.String(), port(o.aws))
}

// container returns the command that runs LocalStack in a container. LocalStack gets access to the container engine's
// socket, because it starts functions in sibling containers.
func (o options) container(name string, settings []string) []string {
	command := []string{
		"docker", "run", "--rm", "--name", name, "--publish", o.aws + ":" + insidePort,
		"--volume", "/var/run/docker.sock:/var/run/docker.sock",
	}
	for _, s := range settings {
		command = append(command, "--env", s)
	}
	return append(command, image)
}

func (i *instance) await(ctx context.Context, o options) error {
	limited, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if request, err := http.NewRequestWithContext(limited, http.MethodGet, "http://"+o.aws+"/_localstack/health",
			http.NoBody); err == nil {
			if response, err := http.DefaultClient.Do(request); err == nil {
				_ = response.Body.Close()
				return nil
			}
		}
		select {
		case <-i.ended:
			return errors.New("LocalStack does not start:\n" + lastLines(o.log("localstack")))
		case <-limited.Done():
			return errors.New("LocalStack does not respond at " + o.aws + ":\n" + lastLines(o.log("localstack")))
		case <-tick.C:
		}
	}
}

// stop ends LocalStack and the functions' containers. LocalStack takes five seconds to stop each container, so stop
// removes the containers first. LocalStack may start more containers while it shuts down, so stop removes containers
// again afterwards. It works even if ctx is done.
func (i *instance) stop(ctx context.Context, progress io.Writer) error {
	fmt.Fprintln(progress, "Stopping LocalStack")
	i.stopIt()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*killAfter)
	defer cancel()
	err := i.removeContainers(ctx)
	<-i.ended
	return errors.Join(err, i.removeContainers(ctx))
}

func (i *instance) removeContainers(ctx context.Context) error {
	list, err := engine.Run(ctx, "ps", "--all", "--quiet", "--filter", "name=^/?"+i.name+"(-lambda-.*)?$")
	if err != nil {
		return fmt.Errorf("list containers: %w", err)
	}
	if list == "" {
		return nil
	}
	if _, err = engine.Run(ctx, slices.Concat([]string{"rm", "--force"}, strings.Fields(list))...); err != nil {
		return fmt.Errorf("remove containers: %w", err)
	}
	return nil
}
