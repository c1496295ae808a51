package main

import (
	"context"
	"os/exec"
	"path/filepath"

	"recordbridge/infra/test/conformance/suite"
)

const loopback = "127.0.0.1"

// servers returns the servers that .ci/conformance installs. Each AWS service has one server.
func servers() []suite.Server {
	return []suite.Server{
		{
			Name: "DynamoDB Local", Services: []string{"dynamodb"}, File: "dynamodb-local/lib",
			Command: func(ctx context.Context, folder, port string) *exec.Cmd {
				lib := filepath.Join(folder, "dynamodb-local/lib")
				//nolint:gosec // the folder is whoever runs us's
				return exec.CommandContext(ctx, "java", "-Xmx512m", "-Dsqlite4java.library.path="+lib, "-cp", lib+"/*",
					"com.amazonaws.services.dynamodbv2.local.main.ServerRunner", "-inMemory", "-sharedDb", "-port", port)
			},
		},
		{
			Name: "versitygw", Services: []string{"s3"}, File: "versitygw/versitygw",
			Command: func(ctx context.Context, folder, port string) *exec.Cmd {
				//nolint:gosec // as above
				return exec.CommandContext(ctx, filepath.Join(folder, "versitygw/versitygw"), "--access", suite.AccessKey,
					"--secret", suite.SecretKey, "--port", loopback+":"+port, "--quiet", "posix", ".")
			},
		},
		{
			Name: "moto", Services: []string{"sqs", "kms", "secretsmanager", "ssm", "ses"}, File: "moto/bin/moto_server",
			Command: func(ctx context.Context, folder, port string) *exec.Cmd {
				//nolint:gosec // as above
				return exec.CommandContext(ctx, filepath.Join(folder, "moto/bin/moto_server"), "-H", loopback, "-p", port)
			},
		},
	}
}
