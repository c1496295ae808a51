// Package manage contains packages for accounts and for changes made by operators and members.
//
// Package manage imports words, fhir, catalog, webhook, connect, export and tefca, and the packages due, maillimit,
// mailtext and ratelimit from platform. Only package passkey depends on HTTP. The subpackages are:
//
//   - account defines the dashboard's accounts, sessions, roles, memberships and invitations (ADR 36). Package
//     account/signin signs users in, account/members manages members, account/totp and account/freemail support both.
//   - audit records changes in tamper-evident chains.
//   - deletion deletes an organisation, stage by stage.
//   - disconnect ends a connection at an organisation's request.
//   - erase removes every trace of a connection and proves the removal.
//   - inquiry records patients' requests for help or for a missing health system, and the replies to those requests.
//   - operator implements each operator change. Each noun is a type whose constructor takes exactly its dependencies.
//   - passkey performs WebAuthn ceremonies.
//   - usage counts an organisation's usage from its events.
//   - verification proves that a person owns an email address.
package manage
