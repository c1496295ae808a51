package immunizations

import "recordbridge/shared/fhir/ccda/terms"

// statuses maps ActStatus to immunization-status (C-CDA on FHIR, ConceptMap CF-ImmunizationStatus).
const statuses terms.Table = `
completed completed
aborted not-done
cancelled not-done
canceled not-done
held not-done
new not-done
obsolete not-done
suspended not-done
nullified entered-in-error
`
