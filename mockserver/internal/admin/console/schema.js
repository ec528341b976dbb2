// The operations of the service in an OpenAPI document, and sample values of its schemas.

/**
 * @typedef {object} Operation
 * @property {string} name
 * @property {string} method
 * @property {string} path
 * @property {string} tag
 * @property {string} summary
 * @property {any[]} parameters
 * @property {any} body the schema, if there is a body
 */

/**
 * operations returns the operations of the service, without those below /_mock/.
 * @param {any} document
 * @returns {Operation[]}
 */
export function operations(document) {
  return Object.entries(document.paths).filter(([path]) => !path.startsWith("/_mock")).flatMap(([path, methods]) =>
    Object.entries(/** @type {Record<string, any>} */ (methods)).filter(([, about]) => about.operationId).map(([method, about]) => ({
      name: about.operationId, method: method.toUpperCase(), path, tag: about.tags?.[0] ?? "", summary: about.summary ?? "",
      parameters: about.parameters ?? [], body: about.requestBody?.content?.["application/json"]?.schema,
    })));
}

/**
 * resolve follows references within a document.
 * @param {any} document
 * @param {any} value
 * @returns {any}
 */
export function resolve(document, value) {
  while (value?.$ref) value = value.$ref.replace("#/", "").split("/").reduce((/** @type {any} */ at, /** @type {string} */ name) => at[name], document);
  return value;
}

/**
 * parameters returns the parameters of an operation in the path and in the query.
 * @param {any} document
 * @param {Operation} operation
 * @returns {any[]}
 */
export function parameters(document, operation) {
  return operation.parameters.map((one) => resolve(document, one)).filter((one) => one.in === "path" || one.in === "query");
}

/**
 * sample returns a value of a schema: its required members, or the first one if none is required, with the identifiers
 * of the world.
 * @param {any} document
 * @param {any} schema
 * @param {(name: string) => string | undefined} identifier
 * @param {string} [name]
 * @returns {any}
 */
export function sample(document, schema, identifier, name = "") {
  const one = resolve(document, schema);
  const known = identifier(name);
  if (known !== undefined && one.type === "string") return known;
  if (one.type === "object" || one.properties) {
    const all = Object.keys(one.properties ?? {});
    const required = one.required ?? (one.then ? one.if.required : one.else?.required);
    const wanted = all.filter((member) => required?.includes(member));
    if (!all.length && one.examples) return one.examples[0];
    return Object.fromEntries((wanted.length ? wanted : all.slice(0, 1)).map((member) => [member, sample(document, one.properties[member], identifier, member)]));
  }
  if (one.type === "array") return [sample(document, one.items, identifier, name === "document_types" ? "document_type" : name)];
  const given = one.examples?.[0] ?? one.default ?? one.const ?? one.enum?.[0];
  if (given !== undefined) return given;
  const types = Array.isArray(one.type) ? one.type[0] : one.type;
  return /** @type {Record<string, any>} */ ({ number: 1, integer: 1, boolean: true, string: "" })[types] ?? null;
}
