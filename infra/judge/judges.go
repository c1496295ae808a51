package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

const (
	startTime = 60 * time.Second // a JVM on a busy machine
	pollEvery = 50 * time.Millisecond
)

// judge is somebody else's server, installed below the folder of the judges by .ci/judges.
type judge struct {
	name     string
	services []string
	file     string // has to be there
	// command gives what runs it on a port, in a folder of its own.
	command func(ctx context.Context, folder, port string) *exec.Cmd
}

const loopback = "127.0.0.1"

func judges() []judge {
	return []judge{
		{"DynamoDB Local", []string{"dynamodb"}, "dynamodb-local/lib", func(ctx context.Context, folder, port string) *exec.Cmd {
			lib := filepath.Join(folder, "dynamodb-local/lib")
			return exec.CommandContext(ctx, "java", "-Xmx512m", "-Dsqlite4java.library.path="+lib, "-cp", lib+"/*", //nolint:gosec // the folder is whoever runs us's
				"com.amazonaws.services.dynamodbv2.local.main.ServerRunner", "-inMemory", "-sharedDb", "-port", port)
		}},
		{"dynoxide", []string{"dynamodb"}, "dynoxide/node_modules/@dynoxide/linux-x64/dynoxide", func(ctx context.Context, folder, port string) *exec.Cmd {
			return exec.CommandContext(ctx, filepath.Join(folder, "dynoxide/node_modules/@dynoxide/linux-x64/dynoxide"), "--port", port) //nolint:gosec // as above
		}},
		{"ElasticMQ", []string{"sqs"}, "elasticmq/lib", func(ctx context.Context, folder, port string) *exec.Cmd {
			return exec.CommandContext(ctx, "java", "-Xmx256m", "-Drest-sqs.bind-hostname="+loopback, "-Drest-sqs.bind-port="+port, //nolint:gosec // as above
				"-Drest-stats.enabled=false", "-Dnode-address.host="+loopback, "-Dnode-address.port="+port,
				"-cp", filepath.Join(folder, "elasticmq/lib")+"/*", "org.elasticmq.server.Main")
		}},
		{"versitygw", []string{"s3"}, "versitygw/versitygw", func(ctx context.Context, folder, port string) *exec.Cmd {
			return exec.CommandContext(ctx, filepath.Join(folder, "versitygw/versitygw"), "--access", accessKey, "--secret", secretKey, //nolint:gosec // as above
				"--port", loopback+":"+port, "--quiet", "posix", ".")
		}},
		{"moto", []string{"dynamodb", "sqs", "s3", "kms", "secretsmanager", "ssm", "ses"}, "moto/bin/moto_server", func(ctx context.Context, folder, port string) *exec.Cmd {
			return exec.CommandContext(ctx, filepath.Join(folder, "moto/bin/moto_server"), "-H", loopback, "-p", port) //nolint:gosec // as above
		}},
	}
}

// running is a judge that answers.
type running struct {
	url     string
	process *exec.Cmd
	exited  chan struct{}
	folder  string // in which it runs
}

// start runs j and waits until it answers.
func (j judge) start(ctx context.Context, folder string, client *http.Client) (*running, error) {
	if _, err := os.Stat(filepath.Join(folder, j.file)); err != nil {
		return nil, fmt.Errorf("%s is not installed: %w", j.name, err)
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	r := &running{url: "http://" + net.JoinHostPort(loopback, port), exited: make(chan struct{})}
	if r.folder, err = os.MkdirTemp("", "judge"); err != nil {
		return nil, fmt.Errorf("folder for %s: %w", j.name, err)
	}
	r.process = j.command(ctx, folder, port)
	r.process.Dir, r.process.Stdout, r.process.Stderr = r.folder, io.Discard, io.Discard
	if err := r.process.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", j.name, err)
	}
	go func() {
		_ = r.process.Wait() // it is killed in the end
		close(r.exited)
	}()
	if err := r.answers(ctx, client); err != nil {
		r.stop()
		return nil, fmt.Errorf("%s: %w", j.name, err)
	}
	return r, nil
}

// answers waits for any answer over HTTP.
func (r *running) answers(ctx context.Context, client *http.Client) error {
	limited, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-limited.Done():
			return errors.New("it does not answer")
		case <-r.exited:
			return errors.New("it ended at once")
		case <-ticker.C:
		}
		request, err := http.NewRequestWithContext(limited, http.MethodGet, r.url+"/", http.NoBody)
		if err != nil {
			return fmt.Errorf("make a request: %w", err)
		}
		if response, err := client.Do(request); err == nil {
			return response.Body.Close()
		}
	}
}

func (r *running) stop() {
	_ = r.process.Process.Kill() // it may be gone already
	<-r.exited
	_ = os.RemoveAll(r.folder) // below the system's folder for what may go
}

func freePort(ctx context.Context) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return "", fmt.Errorf("find a port: %w", err)
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	if err := listener.Close(); err != nil || !ok {
		return "", errors.Join(errors.New("find a port"), err)
	}
	return strconv.Itoa(address.Port), nil
}
