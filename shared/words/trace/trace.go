// Package trace owns the id that everything has in common which one request sets off, in whichever function: the root
// of the trace header of AWS X-Ray. Lambda gives every invocation a header, and a queue message carries its sender's on
// to its worker. https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader
package trace

import (
	"context"
	"regexp"
	"strings"
)

// longest is more than any header has that AWS makes, in bytes.
const longest = 512

var (
	root  = regexp.MustCompile(`^1-[0-9a-f]{8}-[0-9a-f]{24}$`)
	field = regexp.MustCompile(`^[A-Za-z]+=[0-9A-Za-z:|.-]+$`)
)

type headerKey struct{}

// With puts a trace header into ctx, in place of the one before. One that is not as X-Ray writes them changes nothing:
// API Gateway takes the ids of traces from its callers.
func With(ctx context.Context, header string) context.Context {
	if rootOf(header) == "" {
		return ctx
	}
	return context.WithValue(ctx, headerKey{}, header)
}

// Header returns the trace header that With put into ctx, or "".
func Header(ctx context.Context) string {
	header, _ := ctx.Value(headerKey{}).(string)
	return header
}

// ID returns the id of the trace that ctx belongs to, or "".
func ID(ctx context.Context) string { return rootOf(Header(ctx)) }

// rootOf is the root of a well-formed header, else "".
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
