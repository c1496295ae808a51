package httpapi

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"time"

	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
	"recordbridge/shared/words/secret"
)

// Buckets applies the generic cell rate algorithm (GCRA), storing a theoretical arrival time (TAT) per key. Take must
// be atomic per key. If Take fails, the request is allowed.
type Buckets interface {
	Take(ctx context.Context, key string, limit ratelimit.Limit, now time.Time) (ratelimit.Decision, error)
}

// Limiter limits an endpoint's requests per caller and client address. The zero value imposes no limit.
type Limiter struct {
	Buckets Buckets
	Limit   ratelimit.Limit
	Hashing secret.Keyring // derives bucket names that don't reveal callers' addresses
}

// take consumes one request from the bucket for the route class, caller and address. who is a credential or account ID,
// or empty for an unknown caller. If the store is unavailable, the request is allowed and the failure is logged.
func (l Limiter) take(ctx context.Context, c *call, who string) error {
	if l.Buckets == nil || l.Limit.Unlimited() {
		return nil
	}
	decision, err := l.Buckets.Take(ctx, l.key(c, who), l.Limit, c.now)
	if err != nil {
		logx.Add(ctx, slog.Bool("limiter_failed", true))
		return nil //nolint:nilerr // decided: a limiter that cannot reach its store lets the request through
	}
	name := strconv.Quote(l.Limit.Name)
	c.header.Set("RateLimit-Policy", fmt.Sprintf("%s;q=%d;w=%d", name, l.Limit.Quota, seconds(l.Limit.Window)))
	c.header.Set("RateLimit", fmt.Sprintf("%s;r=%d;t=%d", name, decision.Remaining, seconds(decision.Reset)))
	if decision.Allowed {
		return nil
	}
	logx.Add(ctx, slog.String("limit", l.Limit.Name))
	logx.Measure(ctx, metric.Count(metric.Limited, l.Limit.Name))
	return fault.New(fault.Limited, fault.CodeRateLimited, "Too many requests. Please wait before you try again.").
		After(decision.RetryAfter)
}

// key returns the bucket's name as a keyed hash, so that a leaked store doesn't reveal client addresses.
func (l Limiter) key(c *call, who string) string {
	mark := l.Hashing.Sign([]byte("limit\x00" + l.Limit.Name + "\x00" + who + "\x00" +
		clientNetwork(c.request.RemoteAddr)))
	return hex.EncodeToString(mark.Sum[:16])
}

// clientNetwork returns the network of the client's address, as seen by the gateway. Headers such as X-Forwarded-For
// are ignored, because clients can forge them. An IPv6 address is reduced to its /64 prefix, which is assigned to one
// subscriber.
func clientNetwork(remote string) string {
	address, host := clientAddress(remote)
	switch {
	case !address.IsValid():
		return host
	case address.Is4():
		return address.String()
	}
	return netip.PrefixFrom(address, 64).Masked().String()
}

// auditNetwork returns the network of the client's address, as seen by the gateway, for audit rows. These rows are
// permanent, so the network identifies neither a person nor a device: it is the /24 prefix of an IPv4 address or the
// /48 prefix of an IPv6 address. auditNetwork returns "" if the address is unknown.
func auditNetwork(remote string) string {
	address, _ := clientAddress(remote)
	switch {
	case !address.IsValid():
		return ""
	case address.Is4():
		return netip.PrefixFrom(address, 24).Masked().String()
	}
	return netip.PrefixFrom(address, 48).Masked().String()
}

// clientAddress parses a request's RemoteAddr. address is invalid if host is not an IP address.
func clientAddress(remote string) (address netip.Addr, host string) {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	if address, err = netip.ParseAddr(host); err != nil {
		return netip.Addr{}, host
	}
	return address.Unmap().WithZone(""), host
}

// seconds converts a duration to seconds, rounded up.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
