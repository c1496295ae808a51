package directory_test

import (
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/wiring/directory"
	"recordbridge/shared/wiring/setting"
	"recordbridge/shared/words/org"
)

func TestFacilitiesListsConfiguredAndSimulatedFacilitiesByMode(t *testing.T) {
	t.Parallel()
	const config = `{"networks":{
		"ihe":{"gateways":[{"home":"urn:oid:2.999.2.1","name":"Alder","city":"A","state":"NY",
			"communities":[{"home":"urn:oid:2.999.2.2","name":"Birch","city":"B","state":"MA"}]}]},
		"facilitated":{"facilities":[{"id":"urn:oid:2.999.2.3","name":"Cedar","city":"C","state":"OR"}]}}}`
	all, err := directory.New(setting.TEFCAEnv{EnableSandbox: true, Config: config})
	expect.NoError(t, err)
	for id, name := range map[string]string{
		"urn:oid:2.999.2.1": "Alder", "urn:oid:2.999.2.2": "Birch",
		"urn:oid:2.999.2.3": "Cedar", "urn:oid:2.999.1.1": "", "": "",
	} {
		if found, ok := all.Facility(org.Live, id); found.Name != name || ok != (name != "") {
			t.Errorf("live %s: %+v", id, found)
		}
	}
	if found, ok := all.Facility(org.Test, "urn:oid:2.999.1.1"); !ok || found.Name != "Foxglove Lake Hospital" ||
		found.State != "WI" {
		t.Errorf("test: %+v", found)
	}
	if all, err = directory.New(setting.TEFCAEnv{EnableSandbox: false, Config: ""}); err != nil ||
		len(all[org.Test])+len(all[org.Live]) != 0 {
		t.Errorf("without sandbox and configuration: %v %v", all, err)
	}
	if _, err = directory.New(setting.TEFCAEnv{
		EnableSandbox: false,
		Config:        `{"networks":{"ihe":{"gateways":7}}}`,
	}); err == nil {
		t.Error("a network of another form is taken")
	}
}
