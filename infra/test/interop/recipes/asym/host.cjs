// Asymmetrik's node-fhir-server-core over records in memory: node host.cjs PORT BUNDLE.json.gz ...
const { readFileSync } = require('node:fs');
const { gunzipSync } = require('node:zlib');
const core = require('@asymmetrik/node-fhir-server-core');

const [port, ...files] = process.argv.slice(2);
const store = new Map(); // type -> id -> resource
for (const file of files) {
  const { entry } = JSON.parse(gunzipSync(readFileSync(file)));
  const names = new Map(entry.map(({ fullUrl, resource: { resourceType, id } }) => [fullUrl, `${resourceType}/${id}`]));
  const text = JSON.stringify(entry).replace(/urn:uuid:[0-9a-f-]{36}/g, (name) => names.get(name) ?? name);
  for (const { resource } of JSON.parse(text)) {
    if (!store.has(resource.resourceType)) store.set(resource.resourceType, new Map());
    const meta = { ...resource.meta, versionId: '1', lastUpdated: '2026-11-27T00:00:00Z' };
    store.get(resource.resourceType).set(resource.id, { ...resource, meta });
  }
}

/** Everything that a service of node-fhir-server-core has to do for itself: find, page, link. */
function service(type) {
  const all = () => store.get(type) ?? new Map();
  const Resource = core.resolveSchema('4_0_1', type);
  return {
    async searchById({ id }) {
      const found = all().get(id);
      if (found) return new Resource(found);
      throw new core.ServerError('not found', { statusCode: 404, issue: [{ severity: 'error', code: 'not-found' }] });
    },
    async search(_, { req }) {
      const { _id, _count = '20', _offset = '0', patient, subject } = req.query;
      const ids = _id?.split(','), about = (patient ?? subject)?.replace(/^Patient\//, '');
      const names = (one) => JSON.stringify(one).includes(`"Patient/${about}"`);
      const hits = [...all().values()].filter((one) => (!ids || ids.includes(one.id)) && (!about || names(one)));
      const at = Number(_offset), end = at + Math.min(Number(_count), 100);
      const base = `http://${req.headers.host}/4_0_1`, self = new URL(req.originalUrl, base), next = new URL(self);
      next.searchParams.set('_offset', end);
      return {
        resourceType: 'Bundle', type: 'searchset', total: hits.length,
        link: [{ relation: 'self', url: self.href }]
          .concat(end < hits.length ? [{ relation: 'next', url: next.href }] : []),
        entry: hits.slice(at, end).map((one) => ({
          fullUrl: `${base}/${type}/${one.id}`, resource: new Resource(one),
        })),
      };
    },
  };
}

const types = ['Patient', 'AllergyIntolerance', 'CarePlan', 'CareTeam', 'Claim', 'Condition', 'Coverage',
  'DiagnosticReport', 'DocumentReference', 'Encounter', 'ExplanationOfBenefit', 'Goal', 'ImagingStudy', 'Immunization',
  'MedicationRequest', 'Observation', 'Organization', 'Practitioner', 'Procedure'];
const versions = [core.constants.VERSIONS['4_0_1']];
core.initialize({
  profiles: Object.fromEntries(types.map((type) => [type, { service: service(type), versions }])),
  logging: { level: 'error' },
}).listen(Number(port), () => console.log('ready'));
