package ccda

// Templates that more than one section names. Their rules belong to one of them.
const (
	plannedActRoot         = "2.16.840.1.113883.10.20.22.4.39"
	plannedMedicationRoot  = "2.16.840.1.113883.10.20.22.4.42"
	supplyOrderRoot        = "2.16.840.1.113883.10.20.22.4.17"
	specimenCollectionRoot = "2.16.840.1.113883.10.20.22.4.415"
	procedureActRoot       = "2.16.840.1.113883.10.20.22.4.12" // of acts that have been done
)
