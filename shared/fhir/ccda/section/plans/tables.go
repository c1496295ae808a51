package plans

import "recordbridge/shared/fhir/ccda/terms"

// requestStatuses maps ActStatus to request-status (FHIR R4, ServiceRequest.status). An act with the status new must
// not be performed yet (v3-ActStatus), so its request is a draft.
const requestStatuses terms.Table = `
active active
new draft
held on-hold
suspended on-hold
completed completed
aborted revoked
cancelled revoked
canceled revoked
nullified entered-in-error
obsolete entered-in-error
`

// communicationStatuses maps ActStatus, and the code "ordered" that one vendor uses, to event-status (FHIR R4,
// Communication.status).
const communicationStatuses terms.Table = `
active in-progress
new preparation
ordered preparation
completed completed
aborted stopped
cancelled not-done
canceled not-done
suspended on-hold
held on-hold
nullified entered-in-error
obsolete entered-in-error
`

// intents maps ActMood to request-intent (FHIR R4, ServiceRequest.intent).
const intents terms.Table = `
RQO order
PRP proposal
ARQ proposal
GOL proposal
`

// priorities maps ActPriority to request-priority (FHIR R4, ServiceRequest.priority).
const priorities terms.Table = `
A asap
CR asap
S stat
EM stat
UR urgent
R routine
EL routine
P routine
`
