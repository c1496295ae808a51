// The value sets that FHIR R4 requires (binding strength "required"), which Medplum's validator without a terminology
// server does not look at.

const primitive = /^[a-z]|^http:/;

// Bindings knows which codes an element may have.
export class Bindings {
  #elements = new Map(); // by path, such as Observation.status
  #systems = new Map(); // codes of a code system
  #sets = new Map(); // value sets by URL
  #expanded = new Map();

  constructor(profiles, terminologies) {
    for (const { resource } of profiles.flatMap((bundle) => bundle.entry)) {
      resource.snapshot?.element.forEach((element) => this.#elements.set(element.path, element));
    }
    for (const { resource } of terminologies.flatMap((bundle) => bundle.entry)) {
      if (resource.resourceType === 'CodeSystem' && resource.content === 'complete') {
        this.#systems.set(resource.url, codesOf(resource.concept));
      } else if (resource.resourceType === 'ValueSet') {
        this.#sets.set(resource.url, resource);
      }
    }
  }

  // broken lists the elements of a resource whose code is not of the required set.
  broken(resource) {
    return this.#visit(resource, resource.resourceType);
  }

  #visit(value, path) {
    return Object.entries(value).flatMap(([key, child]) => {
      const [element, type] = this.#find(path, key);
      if (!element) {
        return [];
      }
      const below = element.contentReference?.slice(1) ?? (/^(Backbone)?Element$/.test(type) ? element.path : type);
      return [child].flat().flatMap((item) => this.#bound(element, item).concat(
        item !== null && typeof item === 'object' && !primitive.test(below) ? this.#visit(item, below) : []));
    });
  }

  // #find gives the element that a name stands for, and its type: value[x] is valueQuantity.
  #find(path, key) {
    const element = this.#elements.get(`${path}.${key}`);
    if (element) {
      return [element, element.type?.[0].code ?? 'Element'];
    }
    for (let cut = key.length - 1; cut > 0; cut--) {
      const choice = this.#elements.get(`${path}.${key.slice(0, cut)}[x]`);
      const type = choice?.type.find(({ code }) => code.toLowerCase() === key.slice(cut).toLowerCase());
      if (type) {
        return [choice, type.code];
      }
    }
    return [];
  }

  #bound(element, item) {
    const url = element.binding?.strength === 'required' && element.binding.valueSet?.split('|')[0];
    const codings = typeof item === 'string' ? [{ code: item }] : item?.coding ?? (item?.code ? [item] : []);
    const allowed = url && this.#expand(url);
    if (!allowed || item === null || codings.some(({ system, code }) => allowed.has(code) && (!system || allowed.get(code).has(system)))) {
      return [];
    }
    if (codings.length === 0 && item.extension) {
      return [];
    }
    return [`${element.path}: ${JSON.stringify(codings)} is not of ${url}`];
  }

  // #expand gives the systems of each code of a value set; nothing for one that is not enumerable here.
  #expand(url) {
    if (!this.#expanded.has(url)) {
      this.#expanded.set(url, this.#collect(this.#sets.get(url)));
    }
    return this.#expanded.get(url);
  }

  #collect(set) {
    const codes = new Map();
    for (const { system, concept, filter, valueSet } of set?.compose?.include ?? [{}]) {
      const included = concept?.map(({ code }) => code) ?? this.#systems.get(system);
      if (!included || filter || valueSet) {
        return undefined;
      }
      included.forEach((code) => codes.set(code, (codes.get(code) ?? new Set()).add(system)));
    }
    return codes;
  }
}

function codesOf(concepts) {
  return (concepts ?? []).flatMap(({ code, concept }) => [code, ...codesOf(concept)]);
}
