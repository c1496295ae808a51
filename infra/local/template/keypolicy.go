package template

import (
	"slices"
	"strings"
)

// keyDenial is a key policy statement that denies uses to callers without a given tag or service. The embedded AWS does
// not enforce key policies, so roles must not allow an action that a key's policy denies.
type keyDenial struct {
	key     string // logical ID of the key
	line    int
	actions []string
	// tag is the tag that the caller's role must have with the value want. If tag is empty, the call must come through
	// the AWS service named in want.
	tag, want string
}

const principalTag = "aws:PrincipalTag/"

// keyPolicy reads a key's policy. Statements that allow access are ignored, because they apply only to account
// administrators and AWS services, which a local stack does not have.
func (b *builder) keyPolicy(id string, document *object) {
	document.ignore("Version")
	for _, s := range document.objects("Statement") {
		if s.oneOf("Effect", "Allow", "Deny") == "Allow" {
			s.ignore("Sid", "Principal", "Action", "Resource", "Condition")
			continue
		}
		s.ignore("Sid")
		s.oneOf("Principal", "*")
		s.oneOf("Resource", "*")
		d := keyDenial{key: id, line: s.line(), actions: s.texts("Action")}
		condition := s.object("Condition")
		equals := condition.object("StringNotEquals")
		for _, e := range entries(equals.node) {
			switch tag, isTag := strings.CutPrefix(e.key, principalTag); {
			case isTag:
				d.tag, d.want = tag, equals.text(e.key)
			case e.key == "kms:ViaService":
				d.want = equals.text(e.key)
			}
		}
		equals.finish()
		condition.finish()
		s.finish()
		if d.want == "" {
			s.failf(s.line(), "a key's policy can deny to roles without a tag, or what does not come by a service")
		}
		b.denials = append(b.denials, d)
	}
	document.finish()
}

// checkKeyPolicies rejects roles that allow an action that the key's policy denies, and roles that have a key's tag but
// do not use the key.
func (b *builder) checkKeyPolicies() error {
	for _, d := range b.denials {
		arn := b.arn(kindKey, d.key)
		for _, r := range b.roles {
			uses := false
			for _, s := range r.statements {
				if !slices.Contains(s.Resources, arn) ||
					!slices.ContainsFunc(s.Actions, func(a string) bool { return slices.Contains(d.actions, a) }) {
					continue
				}
				uses = true
				if via := s.Condition["StringEquals"]["kms:ViaService"]; d.tag == "" && !slices.Equal(via, []string{d.want}) {
					return in(r.id, refuse(r.line, "%s allows what the policy of %s denies: it is not by %s", s.Sid, d.key, d.want))
				}
			}
			if tagged := r.tags[d.tag] == d.want; d.tag != "" && tagged != uses {
				return in(r.id, refuse(r.line, "the tag %s of %s belongs to the roles that use the key, and to no others",
					d.tag, d.key))
			}
		}
	}
	return nil
}
