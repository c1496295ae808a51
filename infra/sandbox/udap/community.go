package udap

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/url"
	"strings"
	"sync"
	"time"

	"recordbridge/infra/sandbox/oauth"
)

const (
	// lasts is the validity period of the anchor and of the keys in the store. leafLasts is the validity period of
	// certificates issued by the anchor.
	lasts     = 10 * 365 * 24 * time.Hour
	leafLasts = 90 * 24 * time.Hour
	skew      = time.Minute
)

var errCommunity = errors.New("the stored trust community cannot be read")

// community is the stack's trust community: an anchor with its key, and a key shared by all portals. A store holds only
// one trust community, which is created once.
type community struct {
	store  oauth.Store
	now    func() time.Time
	random io.Reader

	mu   sync.Mutex
	made *keys
}

type keys struct {
	anchor *x509.Certificate
	signer *ecdsa.PrivateKey
	portal *rsa.PrivateKey
}

// stored is the stored form of the keys. All three fields are DER-encoded.
type stored struct {
	Anchor []byte `json:"anchor"`
	Signer []byte `json:"signer"`
	Portal []byte `json:"portal"`
}

func storeKey(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))

	return "UDAP#" + hex.EncodeToString(sum[:])
}

// keys returns the community's keys from the store, creating the community if necessary.
func (c *community) keys(ctx context.Context) (*keys, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made != nil {
		return c.made, nil
	}
	raw, found, err := c.store.Get(ctx, storeKey("community"))
	if err == nil && !found {
		if raw, err = c.fresh(); err == nil {
			_, err = c.store.Swap(ctx, storeKey("community"), nil, raw, c.now().Add(lasts))
		}
		if err == nil { // another instance may have created the keys first
			raw, _, err = c.store.Get(ctx, storeKey("community"))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("trust community: %w", err)
	}
	c.made, err = parseKeys(raw)

	return c.made, err
}

func (c *community) fresh() ([]byte, error) {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the anchor's key: %w", err)
	}
	portal, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("make the portal's key: %w", err)
	}
	anchor, err := x509.CreateCertificate(rand.Reader, c.anchorTemplate(), c.anchorTemplate(), signer.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("make the anchor: %w", err)
	}
	signerDER, signerErr := x509.MarshalPKCS8PrivateKey(signer)
	portalDER, portalErr := x509.MarshalPKCS8PrivateKey(portal)
	if err = errors.Join(signerErr, portalErr); err != nil {
		return nil, fmt.Errorf("encode keys: %w", err)
	}

	return json.Marshal(stored{Anchor: anchor, Signer: signerDER, Portal: portalDER})
}

func (c *community) anchorTemplate() *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Sandbox trust community (invented)"},
		NotBefore: c.now().Add(-time.Hour), NotAfter: c.now().Add(lasts), BasicConstraintsValid: true, IsCA: true,
		MaxPathLenZero: true,
		KeyUsage:       x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
}

func parseKeys(raw []byte) (*keys, error) {
	var read stored
	if json.Unmarshal(raw, &read) != nil {
		return nil, errCommunity
	}
	anchor, err := x509.ParseCertificate(read.Anchor)
	if err != nil {
		return nil, errCommunity
	}
	signer, signerErr := x509.ParsePKCS8PrivateKey(read.Signer)
	portal, portalErr := x509.ParsePKCS8PrivateKey(read.Portal)
	elliptic, isEC := signer.(*ecdsa.PrivateKey)
	rsaKey, isRSA := portal.(*rsa.PrivateKey)
	if signerErr != nil || portalErr != nil || !isEC || !isRSA {
		return nil, errCommunity
	}

	return &keys{anchor: anchor, signer: elliptic, portal: rsaKey}, nil
}

// issue issues a certificate, valid between the given times, to the member named uri.
func (k *keys) issue(random io.Reader, public crypto.PublicKey, uri *url.URL, from, until time.Time) ([]byte, error) {
	serial := make([]byte, 16)
	if _, err := io.ReadFull(random, serial); err != nil {
		return nil, fmt.Errorf("read random bytes: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial), Subject: pkix.Name{CommonName: "A member (invented)"},
		URIs:      []*url.URL{uri},
		NotBefore: from, NotAfter: until, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
	}, k.anchor, public, k.signer)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}

	return der, nil
}
