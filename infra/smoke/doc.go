// Command smoke looks at a running stack from outside, safely on one that serves patients (package check):
//
//	smoke -base-url https://api.example.org/v1 -stack recordbridge   # makes an organisation, and removes it
//	smoke -base-url https://api.example.org/v1                       # as the organisation of SMOKE_PUBLIC_ID
//	smoke                                                            # what make run has started
//
// A credential comes from SMOKE_PUBLIC_ID, SMOKE_PRIVATE_KEY and SMOKE_REDIRECT_URI, and its webhook's secret from
// SMOKE_WEBHOOK_SECRET; secrets are no flags, which others on the machine could see. It exits with 0, with 1 when a
// step has failed, and with 2 when nothing was tried.
package main
