// Package manage contains the packages for accounts, and for the changes that operators and members make.
//
// It imports words, fhir, catalog, webhook, connect, export and tefca, and the packages due, maillimit, mailtext and
// ratelimit from platform. Only passkey depends on HTTP. The subpackages are:
//
//   - account defines the dashboard's accounts, sessions, roles, memberships and invitations (ADR 36); account/signin
//     signs users in, account/members manages members, account/totp and account/freemail support both packages.
//   - audit records changes in tamper-evident chains.
//   - deletion deletes an organisation, stage by stage.
//   - disconnect ends a connection at an organisation's request.
//   - erase removes every trace of a connection, and proves the removal.
//   - inquiry records patients' requests for help or for a missing health system, and the replies.
//   - operator implements each operator change; each noun is a type whose constructor takes exactly its dependencies.
//   - passkey performs WebAuthn ceremonies.
//   - usage counts an organisation's usage from the organisation's events.
//   - verification proves that a person owns an email address.
package manage
