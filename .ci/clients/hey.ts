// Calls the API with the client of @hey-api/openapi-ts.
import { client } from "./api/hey/client.gen.js";
import { getConnection } from "./api/hey/sdk.gen.js";

const { BASE_URL, PUBLIC_ID, PRIVATE_KEY, CONNECTION_ID } = process.env as Record<string, string>;
client.setConfig({ baseUrl: BASE_URL, auth: `${PUBLIC_ID}:${PRIVATE_KEY}` });

const { data, error } = await getConnection({ path: { orgConnectionId: CONNECTION_ID } });
if (error) throw new Error(`${error.error}: ${error.error_description}`);
if (!data) throw new Error("no data");
const connection = data.data;
console.log(connection.kind === "portal" ? connection.catalog_brand_id : connection.tefca_directory_id);
