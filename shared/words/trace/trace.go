// Package trace carries an ID that is shared, across functions, by all work that a single request causes. The ID is the
// root field of the AWS X-Ray trace header, which Lambda sets for every invocation. A queue message passes its sender's
// trace header to the worker.
// https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader
package trace

import (
	"context"
	"regexp"
	"strings"
)

// longest is the maximum accepted length of a header in bytes. The headers that AWS sends are shorter than this limit.
const longest = 512

var (
	root  = regexp.MustCompile(`^1-[0-9a-f]{8}-[0-9a-f]{24}$`)
	field = regexp.MustCompile(`^[A-Za-z]+=[0-9A-Za-z:|.-]+$`)
)

type headerKey struct{}

// With returns a copy of ctx with a trace header, which replaces any earlier trace header. With ignores a malformed
// header, because API Gateway accepts trace IDs from its callers.
func With(ctx context.Context, header string) context.Context {
	if rootOf(header) == "" {
		return ctx
	}
	return context.WithValue(ctx, headerKey{}, header)
}

// Header returns the trace header set by With. It returns "" if ctx has no trace header.
func Header(ctx context.Context) string {
	header, _ := ctx.Value(headerKey{}).(string)
	return header
}

// ID returns ctx's trace ID. It returns "" if ctx has no trace ID.
func ID(ctx context.Context) string { return rootOf(Header(ctx)) }

// rootOf returns a header's root field, or "" if the header is malformed.
func rootOf(header string) string {
	if len(header) > longest {
		return ""
	}
	id := ""
	for part := range strings.SplitSeq(header, ";") {
		if !field.MatchString(part) {
			return ""
		}
		if value, ok := strings.CutPrefix(part, "Root="); ok && root.MatchString(value) {
			id = value
		}
	}
	return id
}
