// Package gateway serves the routes of a template as an API Gateway REST API with Lambda proxy integrations would:
// stage and resource matching, proxy events, limits, gateway responses, and the changes it makes to headers. Rules
// without a source of their own follow the API Gateway developer guide.
//
// It has no authorisers, keys, throttling, caching or CORS of its own, since the template declares none; and it does
// not run functions: an Invoker does.
package gateway
