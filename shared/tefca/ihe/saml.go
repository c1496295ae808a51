package ihe

import (
	"crypto/rsa"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"math/big"
	"time"

	"github.com/beevik/etree"
	// Canonicalisation and XML signatures are hard to implement safely.
	dsig "github.com/russellhaering/goxmldsig"

	"recordbridge/shared/tefca"
)

// Validity of signatures, which IHE ITI TF-2, 3.40.4.1.2 leaves to the network. The validity period tolerates a clock
// skew of two minutes.
const (
	validFor  = 5 * time.Minute
	skew      = 2 * time.Minute
	timestamp = "2006-01-02T15:04:05.000Z"
)

// signer signs assertions and messages with the key of the service's certificate.
type signer struct {
	assertions, messages *dsig.SigningContext
	certificate          string // DER in base64
	key                  *rsa.PublicKey
	subject              string
}

func newSigner(key *rsa.PrivateKey, own tls.Certificate) (signer, error) {
	made := signer{
		certificate: base64.StdEncoding.EncodeToString(own.Certificate[0]), key: &key.PublicKey,
		subject: own.Leaf.Subject.String(),
	}
	for id, context := range map[string]**dsig.SigningContext{"ID": &made.assertions, "wsu:Id": &made.messages} {
		signs, err := dsig.NewSigningContext(key, own.Certificate[:1])
		if err != nil {
			return signer{}, fmt.Errorf("ihe: signing context: %w", err)
		}
		signs.IdAttribute = id
		signs.Canonicalizer = dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("")
		*context = signs
	}
	return made, nil
}

// claims holds an assertion's contents, except the service's identity.
type claims struct {
	id       string
	who      tefca.Assertion
	config   Config
	format   requestFormat // format of the audience's requests
	audience string        // URL of the only endpoint at which the assertion is valid
	at       time.Time
}

// window returns the validity period of a signature made at the current time. An assertion expires no later than the
// id_token that it contains.
func (c claims) window() (from, until time.Time) {
	until = c.at.Add(validFor)
	if c.who.ExpiresAt.Before(until) {
		until = c.who.ExpiresAt
	}
	return c.at.Add(-skew), until
}

// assertion builds the signed SAML assertion and binds it to the service's key (IHE ITI TF-2, 3.40.4.1.2; OASIS, SAML
// V2.0 Profiles, 3.1 for holder-of-key).
func (s signer) assertion(c claims) (*etree.Element, error) {
	root := etree.NewElement("saml2:Assertion")
	root.CreateAttr("xmlns:saml2", samlSpace)
	root.CreateAttr("ID", c.id)
	root.CreateAttr("IssueInstant", c.at.UTC().Format(timestamp))
	root.CreateAttr("Version", "2.0")
	issuer := put(root, "saml2:Issuer", s.subject)
	issuer.CreateAttr("Format", subjectName)
	s.person(root)
	from, until := c.window()
	limits := root.CreateElement("saml2:Conditions")
	limits.CreateAttr("NotBefore", from.UTC().Format(timestamp))
	limits.CreateAttr("NotOnOrAfter", until.UTC().Format(timestamp))
	put(limits.CreateElement("saml2:AudienceRestriction"), "saml2:Audience", c.audience)
	authenticated := root.CreateElement("saml2:AuthnStatement")
	authenticated.CreateAttr("AuthnInstant", c.who.IssuedAt.UTC().Format(timestamp))
	put(authenticated.CreateElement("saml2:AuthnContext"), "saml2:AuthnContextClassRef", byX509)
	says := root.CreateElement("saml2:AttributeStatement")
	p := c.who.Person
	for _, a := range [][2]string{
		{attrSubject, plain(p.Given + " " + p.Middle + " " + p.Family)},
		{attrOrganization, plain(c.config.Organization)},
		{attrOrgID, c.config.Home},
		{attrHome, c.config.Home},
		{attrHomeNHIN, c.config.Home},
		{attrToken, c.who.Token.Reveal()},
	} {
		put(attribute(says, a[0], c.format.nameFormat), "saml2:AttributeValue", a[1])
	}
	coded(attribute(says, attrRole, c.format.nameFormat), "Role", role())
	coded(attribute(says, attrPurpose, c.format.nameFormat), "PurposeOfUse", c.format.purpose)
	signature, err := s.assertions.ConstructSignature(root, true)
	if err != nil {
		return nil, fmt.Errorf("ihe: sign assertion: %w", err)
	}
	s.keyValue(signature.SelectElement("ds:KeyInfo")) // the signature does not cover the key, so it remains valid
	// The schema requires the signature in this position (OASIS, SAML V2.0 Core, 2.3.3).
	root.InsertChildAt(issuer.Index()+1, signature)
	return root, nil
}

// person adds the subject, confirmed by the service's certificate.
func (s signer) person(root *etree.Element) {
	subject := root.CreateElement("saml2:Subject")
	put(subject, "saml2:NameID", s.subject).CreateAttr("Format", subjectName)
	confirmation := subject.CreateElement("saml2:SubjectConfirmation")
	confirmation.CreateAttr("Method", holderOfKey)
	key := confirmation.CreateElement("saml2:SubjectConfirmationData").CreateElement("ds:KeyInfo")
	key.CreateAttr("xmlns:ds", dsigSpace)
	put(key.CreateElement("ds:X509Data"), "ds:X509Certificate", s.certificate)
	s.keyValue(key)
}

// message signs a timestamp with the key named in the assertion. The signature ties the assertion to this message
// (OASIS, WSS SAML Token Profile 1.1.1, 3.5.1). Both returned elements belong in the message's security header.
func (s signer) message(c claims, id string) (stamp, signature *etree.Element, err error) {
	_, until := c.window()
	stamp = etree.NewElement("wsu:Timestamp")
	stamp.CreateAttr("xmlns:wsu", utility)
	stamp.CreateAttr("wsu:Id", id)
	put(stamp, "wsu:Created", c.at.UTC().Format(timestamp))
	put(stamp, "wsu:Expires", until.UTC().Format(timestamp))
	signature, err = s.messages.ConstructSignature(stamp, false)
	if err != nil {
		return nil, nil, fmt.Errorf("ihe: sign message: %w", err)
	}
	info := signature.SelectElement("ds:KeyInfo") // The signature does not cover the key info.
	info.Child = nil
	reference := info.CreateElement("wsse:SecurityTokenReference")
	reference.CreateAttr("xmlns:wsse", security)
	reference.CreateAttr("xmlns:wsse11", security11)
	reference.CreateAttr("wsse11:TokenType", samlToken)
	put(reference, "wsse:KeyIdentifier", c.id).CreateAttr("ValueType", samlID)
	return stamp, signature, nil
}

// attribute adds an attribute with the given name and name format (OASIS, SAML V2.0 Core, 8.2).
func attribute(parent *etree.Element, name, format string) *etree.Element {
	a := parent.CreateElement("saml2:Attribute")
	a.CreateAttr("Name", name)
	a.CreateAttr("NameFormat", format)
	return a
}

// coded adds an HL7 v3 code as an attribute value (IHE ITI TF-2, 3.40.4.1.2.1 and 3.40.4.1.2.3).
func coded(attribute *etree.Element, tag string, is coding) {
	value := attribute.CreateElement("saml2:AttributeValue").CreateElement("hl7:" + tag)
	value.CreateAttr("xmlns:hl7", hl7Space)
	value.CreateAttr("xmlns:xsi", instance)
	value.CreateAttr("xsi:type", "hl7:CE")
	value.CreateAttr("code", is.code)
	value.CreateAttr("codeSystem", is.system)
	value.CreateAttr("codeSystemName", is.systemName)
	value.CreateAttr("displayName", is.name)
}

// keyValue adds the public key alongside the certificate, because some gateways use only the public key for
// verification (W3C, XML Signature, 4.4.2.2).
func (s signer) keyValue(info *etree.Element) {
	value := etree.NewElement("ds:KeyValue")
	key := value.CreateElement("ds:RSAKeyValue")
	put(key, "ds:Modulus", base64.StdEncoding.EncodeToString(s.key.N.Bytes()))
	put(key, "ds:Exponent", base64.StdEncoding.EncodeToString(big.NewInt(int64(s.key.E)).Bytes()))
	info.InsertChildAt(0, value)
}
