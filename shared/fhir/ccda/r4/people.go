package r4

// Patient is the FHIR Patient resource (patient.html).
type Patient struct {
	Header

	Identifier      []Identifier           `json:"identifier,omitempty" merge:"union"`
	Active          *bool                  `json:"active,omitempty"`
	Name            []HumanName            `json:"name,omitempty" merge:"union"`
	Telecom         []ContactPoint         `json:"telecom,omitempty" merge:"union"`
	Gender          string                 `json:"gender,omitempty"`
	GenderElement   *Element               `json:"_gender,omitempty"`
	BirthDate       string                 `json:"birthDate,omitempty"`
	BirthElement    *Element               `json:"_birthDate,omitempty"`
	DeceasedBoolean *bool                  `json:"deceasedBoolean,omitempty" choice:"deceased"`
	DeceasedTime    string                 `json:"deceasedDateTime,omitempty" choice:"deceased"`
	Address         []Address              `json:"address,omitempty" merge:"union"`
	MaritalStatus   *CodeableConcept       `json:"maritalStatus,omitempty"`
	MultipleBirth   *bool                  `json:"multipleBirthBoolean,omitempty" choice:"multipleBirth"`
	BirthOrder      *int32                 `json:"multipleBirthInteger,omitempty" choice:"multipleBirth"`
	Communication   []PatientCommunication `json:"communication,omitempty" merge:"union"`
	General         []Reference            `json:"generalPractitioner,omitempty" merge:"union"`
	Managing        *Reference             `json:"managingOrganization,omitempty"`
}

// PatientCommunication is a language that a Patient uses.
type PatientCommunication struct {
	Extension []Extension      `json:"extension,omitempty"`
	Language  *CodeableConcept `json:"language"`
	Preferred *bool            `json:"preferred,omitempty"`
}

// RelatedPerson is the FHIR RelatedPerson resource (relatedperson.html).
type RelatedPerson struct {
	Header

	Identifier   []Identifier      `json:"identifier,omitempty" merge:"union"`
	Active       *bool             `json:"active,omitempty"`
	Patient      *Reference        `json:"patient"`
	Relationship []CodeableConcept `json:"relationship,omitempty" merge:"union"`
	Name         []HumanName       `json:"name,omitempty" merge:"union"`
	Telecom      []ContactPoint    `json:"telecom,omitempty" merge:"union"`
	Gender       string            `json:"gender,omitempty"`
	BirthDate    string            `json:"birthDate,omitempty"`
	Address      []Address         `json:"address,omitempty" merge:"union"`
	Period       *Period           `json:"period,omitempty"`
}

// Practitioner is the FHIR Practitioner resource (practitioner.html).
type Practitioner struct {
	Header

	Identifier    []Identifier    `json:"identifier,omitempty" merge:"union"`
	Name          []HumanName     `json:"name,omitempty" merge:"union"`
	Telecom       []ContactPoint  `json:"telecom,omitempty" merge:"union"`
	Address       []Address       `json:"address,omitempty" merge:"union"`
	Qualification []Qualification `json:"qualification,omitempty" merge:"union"`
}

// Qualification is a qualification of a Practitioner.
type Qualification struct {
	Code *CodeableConcept `json:"code"`
}

// PractitionerRole is the FHIR PractitionerRole resource (practitionerrole.html).
type PractitionerRole struct {
	Header

	Identifier   []Identifier      `json:"identifier,omitempty" merge:"union"`
	Practitioner *Reference        `json:"practitioner,omitempty"`
	Organization *Reference        `json:"organization,omitempty"`
	Code         []CodeableConcept `json:"code,omitempty" merge:"union"`
	Specialty    []CodeableConcept `json:"specialty,omitempty" merge:"union"`
	Location     []Reference       `json:"location,omitempty" merge:"union"`
	Telecom      []ContactPoint    `json:"telecom,omitempty" merge:"union"`
}

// Organization is the FHIR Organization resource (organization.html).
type Organization struct {
	Header

	Identifier []Identifier      `json:"identifier,omitempty" merge:"union"`
	Active     *bool             `json:"active,omitempty"`
	Type       []CodeableConcept `json:"type,omitempty" merge:"union"`
	Name       string            `json:"name,omitempty"`
	NameAbsent *Element          `json:"_name,omitempty"`
	Alias      []string          `json:"alias,omitempty" merge:"union"`
	Telecom    []ContactPoint    `json:"telecom,omitempty" merge:"union"`
	Address    []Address         `json:"address,omitempty" merge:"union"`
	PartOf     *Reference        `json:"partOf,omitempty"`
}

// Location is the FHIR Location resource (location.html).
type Location struct {
	Header

	Identifier []Identifier      `json:"identifier,omitempty" merge:"union"`
	Name       string            `json:"name,omitempty"`
	NameAbsent *Element          `json:"_name,omitempty"`
	Type       []CodeableConcept `json:"type,omitempty" merge:"union"`
	Telecom    []ContactPoint    `json:"telecom,omitempty" merge:"union"`
	Address    *Address          `json:"address,omitempty"`
	Managing   *Reference        `json:"managingOrganization,omitempty"`
}

// Device is the FHIR Device resource (device.html), which represents a patient's implant or aid, or software that is an
// author.
type Device struct {
	Header

	Identifier   []Identifier     `json:"identifier,omitempty" merge:"union"`
	UDI          []UDICarrier     `json:"udiCarrier,omitempty" merge:"union"`
	Status       string           `json:"status,omitempty"`
	Distinct     string           `json:"distinctIdentifier,omitempty"`
	Manufacturer string           `json:"manufacturer,omitempty"`
	Manufactured string           `json:"manufactureDate,omitempty"`
	Expiration   string           `json:"expirationDate,omitempty"`
	LotNumber    string           `json:"lotNumber,omitempty"`
	SerialNumber string           `json:"serialNumber,omitempty"`
	DeviceName   []DeviceName     `json:"deviceName,omitempty" merge:"union"`
	ModelNumber  string           `json:"modelNumber,omitempty"`
	Type         *CodeableConcept `json:"type,omitempty"`
	Version      []DeviceVersion  `json:"version,omitempty" merge:"union"`
	Patient      *Reference       `json:"patient,omitempty"`
	Owner        *Reference       `json:"owner,omitempty"`
	Note         []Annotation     `json:"note,omitempty" merge:"union"`
}

// UDICarrier is the unique device identifier of a Device.
type UDICarrier struct {
	DeviceIdentifier string `json:"deviceIdentifier,omitempty"`
	Issuer           string `json:"issuer,omitempty"`
	Jurisdiction     string `json:"jurisdiction,omitempty"`
	CarrierHRF       string `json:"carrierHRF,omitempty"`
}

// DeviceName is a name of a Device, with its type.
type DeviceName struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// DeviceVersion is a software version.
type DeviceVersion struct {
	Value string `json:"value"`
}
