package aws

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"

	"recordbridge/infra/local/aws/sigv4"
	"recordbridge/infra/local/aws/wire"
)

const (
	// maxBody exceeds the request limit of every service except S3, which streams bodies. The largest such limit is 16
	// MB, for DynamoDB's BatchWriteItem.
	maxBody = 17 << 20
	// maxAccessKey is the maximum length of an access key ID. AWS's access key IDs consist of [A-Za-z0-9_]. In the
	// embedded AWS, access key IDs are names from the template, which may also contain hyphens.
	maxAccessKey = 128
)

// Handles reports whether r is an AWS call, so that other routes can share the port.
func (c *Cloud) Handles(r *http.Request) bool {
	_, ok := identify(r)
	return ok
}

// HandlesObject reports whether r is an S3 call.
func (c *Cloud) HandlesObject(r *http.Request) bool {
	id, ok := identify(r)
	return ok && id.service == c.s3.Name()
}

// ServeHTTP identifies the call, verifies its signature and passes it through the middleware to its service.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, ok := identify(r)
	now := c.clock(id.caller)
	w.Header().Set("Date", now.UTC().Format(http.TimeFormat)) // SDKs use this header to correct their clocks
	w.Header().Set("X-Amzn-Requestid", rand.Text())
	service, handle := c.services[id.service], c.handlers[id.service]
	switch {
	case !ok:
		c.refuse(w, r, id, "MissingAuthenticationToken",
			"the request is not a call to AWS: it has no X-Amz-Target and no signature")
		return
	case handle == nil:
		c.refuse(w, r, id, "UnknownOperationException", "service "+id.service+" is not part of the embedded AWS")
		return
	case service != c.s3: // S3 streams bodies and has its own limit
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	}
	caller, err := c.signatures.Verify(r, id.service, now)
	if refusal, wrong := errors.AsType[*sigv4.Error](err); wrong {
		c.refuse(w, r, id, refusal.Code, refusal.Message)
	} else if err != nil {
		c.refuse(w, r, id, "RequestEntityTooLarge", "the request body is too large or was broken off")
	} else {
		handle(w, r, wire.Call{Service: id.service, Operation: service.Operation(r), Caller: caller})
	}
}

// clock returns the current time for the caller's requests, including any simulated skew.
func (c *Cloud) clock(caller string) time.Time {
	if c.skew == nil {
		return time.Now()
	}
	return time.Now().Add(c.skew(caller))
}

// secretOf returns the secret key for any well-formed access key.
func (c *Cloud) secretOf(accessKey string) (string, bool) {
	strange := strings.ContainsFunc(accessKey, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
	return c.secretKey, !strange && len(accessKey) <= maxAccessKey
}
