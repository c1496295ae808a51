// Command apidocs writes the descriptions that are made of Go types: docs/asyncapi.yaml, which describes the webhooks.
// It owns no content; that is package asyncapi's. A test of that package fails when the file is not what the types say.
//
//	go run ./infra/apidocs [-o docs/asyncapi.yaml]
package main
