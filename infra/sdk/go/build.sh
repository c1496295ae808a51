#!/usr/bin/env bash
# Generates the client from build/openapi, tests the module and writes it with the generated code to build/.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
export GOFLAGS=

mkdir -p api
go -C "$root/.ci/clients/go" tool oapi-codegen -package api -generate types,client \
	"$root/build/openapi/backend.yaml" >api/api.go
go vet ./...
go test ./... >/dev/null || { go test ./...; exit 1; }
tar --create --gzip --file "$root/build/recordbridge-go-0.1.0.tgz" --sort=name --exclude='*_test.go' \
	--transform 's,^,recordbridge-go/,' go.mod go.sum README.md ./*.go api
