// Package console is the runner's page for people at /_local. It shows what the stack on this machine holds and does:
// functions, their invocations with log lines and AWS calls, tables, queues, objects, mail and received webhooks; and
// it lets a person fire a schedule, kill a function's processes, redrive or purge a queue, spoil a row and switch
// faults on. It also holds the page to which the seeded test credential sends a browser back. It owns no state and
// decides nothing: each subject has an interface below, which the owner of the subject implements.
//
// Any user of this machine can open it, so it shows no keys: no environment, no Secrets Manager, no KMS, no binary
// values, and nothing that is called or looks like a key, secret, token or hash (hide.go). What a page needs comes from
// these endpoints, as JSON with names in snake_case, times in RFC 3339 and {"error": "…"} with a status of 4xx or 5xx:
//
//	GET  /_local/api/state                                            links, functions, how much there is of everything
//	POST /_local/api/functions/{function}/fire                        run its schedule now; answers when it is done
//	POST /_local/api/functions/{function}/kill                        end its processes
//	GET  /_local/api/invocations?function=&without=&failed=1&limit=   newest first
//	GET  /_local/api/invocations/{id}                                 one, with its lines and calls
//	GET  /_local/api/tables                                           with keys, indexes and numbers of rows
//	GET  /_local/api/tables/{table}/items?index=&prefix=&from=&limit= rows by key, in pages
//	GET  /_local/api/tables/{table}/item?index=&id=                   one row
//	POST /_local/api/tables/{table}/damage?id=&attribute=             spoil a row
//	GET  /_local/api/faults                                           that are switched on
//	POST /_local/api/faults                                           {"faults":[{"name":…,"kind":…}]} and no others
//	GET  /_local/api/queues                                           with their numbers
//	GET  /_local/api/queues/{queue}/messages                          the oldest messages, without receiving them
//	POST /_local/api/queues/{queue}/redrive                           dead letters back to where they came from
//	POST /_local/api/queues/{queue}/purge                             delete all messages
//	GET  /_local/api/buckets
//	GET  /_local/api/buckets/{bucket}/objects?prefix=&from=           one level of keys, in pages
//	GET  /_local/api/buckets/{bucket}/object?key=                     one object with the beginning of its text
//	GET  /_local/api/buckets/{bucket}/download?key=                   its bytes, as an attachment
//	GET  /_local/api/mail                                             newest first
//	GET  /_local/api/inbox                                            with their signatures' validity, newest first
package console
