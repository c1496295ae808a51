// Exports a record from a running service with the package: connection, export, download against the manifest.
import { Recordbridge } from "@recordbridge/server";

const { BASE_URL: baseUrl, PUBLIC_ID: publicId, PRIVATE_KEY: privateKey, CONNECTION_ID: id } = process.env;
const recordbridge = new Recordbridge({ baseUrl, publicId, privateKey });

const connection = await recordbridge.getConnection(id);
const { task_id: task } = await recordbridge.createExport({ org_connection_id: connection.org_connection_id });
let status = "pending";
while (status === "pending") {
  await new Promise((resolve) => setTimeout(resolve, 200));
  ({ status } = await recordbridge.getExport(task));
}
const manifest = await recordbridge.manifest(task);
const [file] = await recordbridge.verifiedFiles(task);
let resources = 0;
for await (const { resourceType } of recordbridge.resources(file)) if (resourceType) resources++;
if (manifest.counts.Patient !== 1 || resources === 0) throw new Error(`${resources} resources, ${manifest.counts}`);
console.log(connection.catalog_brand_id);
