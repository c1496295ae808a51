// The server SDK, in a module of its own so that its dependencies stay out of the service's.
module recordbridge/infra/sdk/go

go 1.26.0

require (
	github.com/go-jose/go-jose/v4 v4.1.8
	github.com/google/uuid v1.6.0
	github.com/oapi-codegen/runtime v1.9.0
	github.com/standard-webhooks/standard-webhooks/libraries v0.0.1
)

require github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
