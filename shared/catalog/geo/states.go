package geo

// StateName returns the name of the state, district or territory with the given code ("MA"), or "" if the code is
// unknown.
func StateName(code string) string { return States()[code] }

// States returns the names of the states, the district and the territories, keyed by code (USPS Publication 28,
// appendix B). The caller owns the map.
func States() map[string]string {
	return map[string]string{
		"AK": "Alaska", "AL": "Alabama", "AR": "Arkansas", "AS": "American Samoa", "AZ": "Arizona", "CA": "California",
		"CO": "Colorado",
		"CT": "Connecticut", "DC": "District of Columbia", "DE": "Delaware", "FL": "Florida", "GA": "Georgia", "GU": "Guam",
		"HI": "Hawaii",
		"IA": "Iowa", "ID": "Idaho", "IL": "Illinois", "IN": "Indiana", "KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana",
		"MA": "Massachusetts", "MD": "Maryland", "ME": "Maine", "MI": "Michigan", "MN": "Minnesota", "MO": "Missouri",
		"MP": "Northern Mariana Islands", "MS": "Mississippi", "MT": "Montana", "NC": "North Carolina", "ND": "North Dakota",
		"NE": "Nebraska",
		"NH": "New Hampshire", "NJ": "New Jersey", "NM": "New Mexico", "NV": "Nevada", "NY": "New York", "OH": "Ohio",
		"OK": "Oklahoma",
		"OR": "Oregon", "PA": "Pennsylvania", "PR": "Puerto Rico", "RI": "Rhode Island", "SC": "South Carolina",
		"SD": "South Dakota",
		"TN": "Tennessee", "TX": "Texas", "UT": "Utah", "VA": "Virginia", "VI": "Virgin Islands", "VT": "Vermont",
		"WA": "Washington",
		"WI": "Wisconsin", "WV": "West Virginia", "WY": "Wyoming",
	}
}
