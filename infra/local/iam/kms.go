package iam

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"recordbridge/infra/local/aws/wire"
)

// serveKMS authorises a KMS call. A key can be named by its ID, its ARN or one of its aliases. In a local stack, the
// ARN of a key in the template is an alias's ARN. If no statement allows the call under the key name in the request,
// serveKMS tries the key's other names.
func (a *Authority) serveKMS(w http.ResponseWriter, r *http.Request, c wire.Call, caller *role, next wire.Handler) {
	n, err := keyNeed(r, c)
	if err != nil {
		a.recordDenial(caller, n)
		deny(w, r, c, n)
		return
	}
	var answered *answer
	if c.Operation == "Decrypt" && n.resource == "*" {
		// The key's name is inside the blob, which only KMS can read, so decrypt first. Decrypt has no side effects.
		answered = &answer{header: http.Header{}}
		next(answered, r, c)
		if n.resource = answered.keyARN(); n.resource == "" {
			answered.sendTo(w)
			return
		}
	}
	if _, ok := caller.allow(n); !ok {
		n.others = otherNames(r.Context(), next, n.resource, caller)
	}
	switch refused, ok := a.decide(caller, []need{n}); {
	case !ok:
		deny(w, r, c, refused)
	case answered != nil:
		answered.sendTo(w)
	default:
		next(w, r, c)
	}
}

// keyNeed returns the permission required for the request's key and encryption context. If the request doesn't specify
// a key, the resource is "*".
func keyNeed(r *http.Request, c wire.Call) (need, error) {
	n := need{action: "kms:" + c.Operation, resource: "*", keys: map[string][]string{}}
	var in struct {
		KeyID, TargetKeyID string
		EncryptionContext  map[string]string
	}
	if err := decode(r, &in); err != nil {
		return n, err
	}
	switch {
	case in.KeyID != "":
		n.resource = keyARN(in.KeyID)
	case in.TargetKeyID != "":
		n.resource = keyARN(in.TargetKeyID)
	}
	for name, value := range in.EncryptionContext {
		n.keys[contextPrefix+strings.ToLower(name)] = []string{value}
	}
	return n, nil
}

// keyARN returns the ARN for a key ID or an alias name.
func keyARN(name string) string {
	if strings.HasPrefix(name, "alias/") {
		return arnOf("kms", "", name)
	}
	return arnOf("kms", "key/", name)
}

// otherNames returns the key's own ARN and the ARNs of its aliases that the caller's statements mention.
func otherNames(ctx context.Context, kms wire.Handler, name string, caller *role) []string {
	own := arnOfKey(ctx, kms, name)
	if own == "" {
		return nil
	}
	names := []string{own}
	for _, s := range caller.statements {
		for _, resource := range s.Resources {
			if strings.Contains(resource, ":alias/") && !slices.Contains(names, resource) &&
				arnOfKey(ctx, kms, resource) == own {
				names = append(names, resource)
			}
		}
	}
	return names
}

// arnOfKey queries KMS for a key's ARN by any of the key's names. If the key does not exist, arnOfKey returns "".
func arnOfKey(ctx context.Context, kms wire.Handler, name string) string {
	content, err := json.Marshal(map[string]string{"KeyId": name})
	if err != nil {
		return ""
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(content))
	if err != nil {
		return ""
	}
	r.Header.Set("X-Amz-Target", "TrentService.DescribeKey")
	out := answer{header: http.Header{}}
	kms(&out, r, wire.Call{Service: "kms", Operation: "DescribeKey"})
	return out.keyARN()
}

type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *answer) Write(part []byte) (int, error) { return a.body.Write(part) }

func (a *answer) sendTo(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(max(a.status, http.StatusOK))
	_, _ = io.Copy(w, &a.body) // the client may have disconnected
}

// keyARN returns the key's ARN from a successful Decrypt or DescribeKey response.
func (a *answer) keyARN() string {
	var out struct {
		KeyID       string
		KeyMetadata struct{ Arn string }
	}
	if a.status != http.StatusOK || json.Unmarshal(a.body.Bytes(), &out) != nil {
		return ""
	}
	return out.KeyID + out.KeyMetadata.Arn // exactly one of the two fields is set
}
