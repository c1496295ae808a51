/** Validates the subset of JSON Schema that events.schema.json uses. An unknown keyword is an error. */
interface Schema {
  $ref?: string;
  [keyword: string]: unknown;
}

type Check = (value: unknown, argument: never, schema: Schema, root: Schema) => boolean;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const valueOf = (name: string): Check =>
  ((value, argument) => (name === "minimum" ? Number(value) >= argument : Number(value) <= argument)) as Check;

const CHECKS: Record<string, Check> = {
  title: () => true,
  description: () => true,
  $schema: () => true,
  $defs: () => true,
  type: (value, type: string) =>
    type === "object"
      ? isObject(value)
      : type === "array"
        ? Array.isArray(value)
        : type === "integer"
          ? Number.isInteger(value)
          : typeof value === type,
  const: (value, wanted: unknown) => value === wanted,
  enum: (value, wanted: unknown[]) => wanted.includes(value),
  minimum: valueOf("minimum"),
  maximum: valueOf("maximum"),
  minLength: (value, least: number) => typeof value !== "string" || value.length >= least,
  pattern: (value, pattern: string) => typeof value !== "string" || new RegExp(pattern, "u").test(value),
  required: (value, names: string[]) => isObject(value) && names.every((name) => Object.hasOwn(value, name)),
  properties: (value, properties: Record<string, Schema>, _, root) =>
    isObject(value) &&
    Object.entries(properties).every(
      ([name, schema]) => !Object.hasOwn(value, name) || isValid(value[name], schema, root),
    ),
  additionalProperties: (value, _: false, schema) =>
    isObject(value) && Object.keys(value).every((name) => Object.hasOwn(Object(schema["properties"]), name)),
  items: (value, schema: Schema, _, root) => Array.isArray(value) && value.every((item) => isValid(item, schema, root)),
  oneOf: (value, schemas: Schema[], _, root) => schemas.filter((schema) => isValid(value, schema, root)).length === 1,
  $ref: (value, path: string, _, root) =>
    isValid(value, Object(root["$defs"])[path.replace("#/$defs/", "")] as Schema, root),
};

/** Reports whether a value matches the schema. */
export function isValid(value: unknown, schema: Schema, root: Schema = schema): boolean {
  return Object.entries(schema).every(([keyword, argument]) => {
    const check = CHECKS[keyword];
    if (!check) throw new Error(`unknown keyword ${keyword}`);
    return check(value, argument as never, schema, root);
  });
}
