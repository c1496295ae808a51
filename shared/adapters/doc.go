// Package adapters contains the clients and servers that connect the service to external systems: AWS, portals and API
// callers.
//
// Adapters import the domain packages and words. From platform, they import only due, ratelimit and safehttp. Packages
// that use AWS don't import other adapters; wirings combine the adapters. The packages:
//
//   - blob stores objects in S3.
//   - fetch downloads public documents, using conditional requests and following redirects.
//   - httpapi serves typed endpoints: envelope, authentication, sessions, limits.
//   - kms encrypts, decrypts and signs with KMS keys.
//   - mail sends emails through SES.
//   - queue sends SQS messages.
//   - smart is the SMART on FHIR client; smart/clientauth authenticates the service, smart/probe tests an endpoint,
//     smart/pulse checks whether patients could sign in, smart/survey describes a server to an operator.
//   - store reads and writes DynamoDB.
//   - suffix finds registrable domains using the public suffix list.
//   - window renders the window in which a patient signs in.
package adapters
