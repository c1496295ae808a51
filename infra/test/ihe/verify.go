package ihe

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"
)

// accepts verifies a request as a QHIN would. The assertion must be signed with the TLS key, be currently valid for
// this URL, state the purpose T-IAS, and contain an id_token. A signed timestamp must bind the assertion to the
// message.
func (p *Peer) accepts(document *etree.Document, shown *x509.Certificate, audience string) error {
	assertion := document.FindElement("//Security/Assertion")
	if assertion == nil {
		return errors.New("no assertion")
	}
	roots := &dsig.MemoryX509CertificateStore{Roots: []*x509.Certificate{shown}}
	believed, err := dsig.NewDefaultValidationContext(roots).Validate(assertion.Copy())
	if err != nil {
		return fmt.Errorf("assertion: %w", err)
	}
	held := find(believed, "./Subject/SubjectConfirmation/SubjectConfirmationData/KeyInfo/X509Data/X509Certificate")
	if held != base64.StdEncoding.EncodeToString(shown.Raw) {
		return errors.New("the key is not held by who asks")
	}
	stated := find(believed, "./Subject/SubjectConfirmation/SubjectConfirmationData/KeyInfo/KeyValue/RSAKeyValue/Modulus")
	key, isRSA := shown.PublicKey.(*rsa.PublicKey)
	if !isRSA || stated != base64.StdEncoding.EncodeToString(key.N.Bytes()) {
		return errors.New("no RSA key, or another, beside the certificate")
	}
	validity := believed.FindElement("./Conditions")
	if validity == nil || !p.within(validity.SelectAttrValue("NotBefore", ""),
		validity.SelectAttrValue("NotOnOrAfter", "")) {
		return errors.New("the assertion is not valid now")
	}
	if find(validity, "./AudienceRestriction/Audience") != audience {
		return errors.New("the assertion is for somebody else")
	}
	if err := p.says(believed); err != nil {
		return err
	}
	return p.stamped(document, believed.SelectAttrValue("ID", ""), shown)
}

// says checks an assertion's attributes.
func (p *Peer) says(assertion *etree.Element) error {
	values := map[string]*etree.Element{}
	for _, a := range assertion.FindElements("./AttributeStatement/Attribute") {
		values[a.SelectAttrValue("Name", "")] = a.FindElement("./AttributeValue")
	}
	purpose := values["urn:oasis:names:tc:xspa:1.0:subject:purposeofuse"]
	if purpose == nil || purpose.FindElement(
		"./PurposeOfUse[@code='T-IAS'][@codeSystem='2.16.840.1.113883.3.7204.1.5.2.1'][@codeSystemName]") == nil {
		return errors.New("another purpose than T-IAS")
	}
	for _, name := range []string{
		"urn:oasis:names:tc:xspa:1.0:subject:organization-id",
		"urn:ihe:iti:xca:2010:homeCommunityId", "urn:nhin:names:saml:homeCommunityId",
	} {
		if v := values[name]; v == nil || v.Text() != p.options.Audience {
			return errors.New("another community than is known")
		}
	}
	for _, name := range []string{
		"urn:ietf:params:oauth:token-type:id_token",
		"urn:oasis:names:tc:xspa:1.0:subject:subject-id", "urn:oasis:names:tc:xspa:1.0:subject:organization",
	} {
		if v := values[name]; v == nil || v.Text() == "" {
			return errors.New("no id_token, or nobody who asks")
		}
	}
	if role := values["urn:oasis:names:tc:xacml:2.0:subject:role"]; role == nil ||
		role.FindElement("./Role[@code][@codeSystemName]") == nil {
		return errors.New("no role")
	}
	return nil
}

// stamped verifies the timestamp's signature. The goxmldsig package can't verify a signature outside the signed
// element.
func (p *Peer) stamped(document *etree.Document, assertionID string, shown *x509.Certificate) error {
	stamp, signature := document.FindElement("//Security/Timestamp"), document.FindElement("//Security/Signature")
	if stamp == nil || signature == nil || find(signature,
		"./KeyInfo/SecurityTokenReference/KeyIdentifier") != assertionID {
		return errors.New("no timestamp that is signed by who is asserted")
	}
	reference := signature.FindElement("./SignedInfo/Reference")
	if reference == nil || reference.SelectAttrValue("URI", "") != "#"+stamp.SelectAttrValue("wsu:Id", "") {
		return errors.New("something else than the timestamp is signed")
	}
	exclusive := dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("")
	canonical, err := exclusive.Canonicalize(stamp.Copy())
	if err != nil {
		return fmt.Errorf("timestamp: %w", err)
	}
	digest := sha256.Sum256(canonical)
	if find(reference, "./DigestValue") != base64.StdEncoding.EncodeToString(digest[:]) {
		return errors.New("another timestamp was signed")
	}
	info := signature.FindElement("./SignedInfo").Copy()
	info.CreateAttr("xmlns:ds", dsig.Namespace)
	if canonical, err = exclusive.Canonicalize(info); err != nil {
		return fmt.Errorf("signed info: %w", err)
	}
	value, err := base64.StdEncoding.DecodeString(find(signature, "./SignatureValue"))
	key, isRSA := shown.PublicKey.(*rsa.PublicKey)
	if err != nil || !isRSA {
		return errors.New("no signature of an RSA key")
	}
	digest = sha256.Sum256(canonical)
	if err := rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], value); err != nil {
		return fmt.Errorf("timestamp: %w", err)
	}
	if !p.within(find(stamp, "./Created"), find(stamp, "./Expires")) {
		return errors.New("the message is not of now")
	}
	return nil
}

// within reports whether the current time is in the interval [from, until). The interval must not exceed ten minutes.
func (p *Peer) within(from, until string) bool {
	start, err := time.Parse(time.RFC3339, from)
	end, err2 := time.Parse(time.RFC3339, until)
	now := p.options.Now()
	return err == nil && err2 == nil && !now.Before(start) && now.Before(end) && end.Sub(start) <= 10*time.Minute
}

// message parses a SOAP request. ITI-39 requests arrive as MTOM packages.
func message(contentType string, body []byte) (*etree.Document, error) {
	media, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, errNoMessage
	}
	if media == "multipart/related" {
		part, err := multipart.NewReader(bytes.NewReader(body), parameters["boundary"]).NextPart()
		if err != nil || part.Header.Get("Content-ID") != parameters["start"] {
			return nil, errNoMessage
		}
		if body, err = io.ReadAll(part); err != nil {
			return nil, errNoMessage
		}
	} else if media != "application/soap+xml" {
		return nil, errNoMessage
	}
	document := etree.NewDocument()
	if err := document.ReadFromBytes(body); err != nil || document.Root() == nil ||
		document.Root().NamespaceURI() != "http://www.w3.org/2003/05/soap-envelope" {
		return nil, errNoMessage
	}
	return document, nil
}

// find returns the text of the element at path, or "" if no element matches.
func find(e *etree.Element, path string) string {
	if found := e.FindElement(path); found != nil {
		return found.Text()
	}
	return ""
}

// text returns the text of the first element with the given name.
func text(document *etree.Document, name string) string { return find(document.Root(), "//"+name) }
