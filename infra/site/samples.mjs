/**
 * Writes an operation's request in several languages, as x-codeSamples of its description. Samples read their values
 * from the environment, as the guide's do.
 */

/** The guide's names for parameters. Other parameters have their own name in upper case. */
const variables = { public_id: "PUBLIC_ID", taskId: "TASK", orgConnectionId: "CONNECTION" };

const variableOf = (name) => variables[name] ?? name.replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase();

/**
 * Returns the samples of an operation. An operation has none if it requires a dashboard session or a form, because only
 * our own pages call it.
 */
export function samplesOf(method, path, operation, parameterOf) {
  const schemes = operation.security.flatMap(Object.keys);
  const content = operation.requestBody?.content["application/json"];
  if (schemes.includes("session") || (operation.requestBody && content === undefined)) return undefined;
  const required = (operation.parameters ?? []).map(parameterOf).filter((one) => one.required);
  const query = required.filter((one) => one.in === "query").map(({ name }) => `${name}={${name}}`);
  const request = {
    method: method.toUpperCase(),
    url: `{BASE_URL}${path}${query.length > 0 ? "?" : ""}${query.join("&")}`,
    auth: schemes.find((scheme) => scheme === "basic" || scheme === "attemptToken"),
    body: content?.example ?? Object.values(content?.examples ?? {})[0]?.value,
  };
  if (content !== undefined && request.body === undefined) return undefined;
  return [
    { lang: "shell", label: "curl", source: curl(request) },
    { lang: "typescript", label: "TypeScript", source: typescript(request) },
    { lang: "python", label: "Python", source: python(request) },
  ];
}

/** Returns a URL in which write has replaced each parameter. */
const withVariables = (url, write) => url.replace(/\{(\w+)\}/g, (_, name) => write(variableOf(name)));

function curl({ method, url, auth, body }) {
  const options = { basic: '-u "$PUBLIC_ID:$PRIVATE_KEY"', attemptToken: '-H "Authorization: Bearer $ATTEMPT_TOKEN"' };
  return [
    `curl -s${method === "GET" || body ? "" : ` -X ${method}`}`,
    ...(auth ? [options[auth]] : []),
    ...(body ? ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`] : []),
    `"${withVariables(url, (name) => `$${name}`)}"`,
  ].join(" \\\n  ");
}

function typescript({ method, url, auth, body }) {
  const env = (name) => `\${process.env.${name}}`;
  const key = `${env("PUBLIC_ID")}:${env("PRIVATE_KEY")}`;
  const token = auth === "basic" ? `Basic \${btoa(\`${key}\`)}` : `Bearer ${env("ATTEMPT_TOKEN")}`;
  const headers = [
    ...(auth ? [`authorization: \`${token}\``] : []),
    ...(body ? ['"content-type": "application/json"'] : []),
  ];
  const options = [
    ...(method === "GET" ? [] : [`method: "${method}"`]),
    ...(headers.length > 0 ? [`headers: {\n    ${headers.join(",\n    ")},\n  }`] : []),
    ...(body ? [`body: JSON.stringify(${JSON.stringify(body)})`] : []),
  ];
  const init = options.length > 0 ? `, {\n  ${options.join(",\n  ")},\n}` : "";
  return [
    `const response = await fetch(\`${withVariables(url, env)}\`${init});`,
    "console.log(response.status, await response.text());",
  ].join("\n");
}

function python({ method, url, auth, body }) {
  const env = (name) => `{environ['${name}']}`;
  const token = auth === "basic" ? '"Basic " + b64encode(key.encode()).decode()' : `f"Bearer ${env("ATTEMPT_TOKEN")}"`;
  const headers = [
    ...(auth ? [`"Authorization": ${token}`] : []),
    ...(body ? ['"Content-Type": "application/json"'] : []),
  ];
  const options = [
    ...(method === "GET" ? [] : [`method="${method}"`]),
    ...(headers.length > 0 ? [`headers={${headers.join(", ")}}`] : []),
    ...(body ? [`data=${JSON.stringify(JSON.stringify(body))}.encode()`] : []),
  ];
  return [
    ...(auth === "basic" ? ["from base64 import b64encode"] : []),
    "from os import environ",
    "from urllib.request import Request, urlopen",
    "",
    ...(auth === "basic" ? [`key = f"${env("PUBLIC_ID")}:${env("PRIVATE_KEY")}"`] : []),
    `url = f"${withVariables(url, env)}"`,
    `with urlopen(Request(${["url", ...options].join(", ")})) as response:`,
    "    print(response.status, response.read().decode())",
  ].join("\n");
}
