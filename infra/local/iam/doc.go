// Package iam says who may do what in the embedded AWS: a middleware that holds every call of a function against
// the statements of that function in the template, as IAM does with its role, and keeps a record of what was used and
// what was refused. It proves nobody's identity; package aws has verified the signature when a call gets here.
//
// There are roles with identity-based Allow statements only: no Deny, no key, queue or bucket policies, no boundaries
// and no session policies. Which permission a call needs follows the AWS Service Authorization Reference.
package iam
